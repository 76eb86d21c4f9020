package import RecordModel
package import RecordStore

/// A change that an operator makes from a page.
///
/// The command makes it as its own subcommands do.
package struct OperatorChange: Sendable {
    package enum Action: Sendable {
        case schema(SchemaChange)
        case addUser(String)
        /// A new token in place of all others.
        case renewUser(String)
        /// Ends all tokens of a user.
        case revokeUser(String)
        /// A user or a service, with all private data.
        case deleteUser(String)
        /// Addresses and numbers that replace the user's present ones.
        case setContacts([IdentityLookup], user: String)
        case setRole(String, user: String, isGiven: Bool)
        case addKey(service: String, onBehalfOf: [String], isReadOnly: Bool)
        case revokeKeys(service: String, keyID: String?)
        /// A zone of the private database of a user.
        case deleteZone(String, user: String)
        /// Participants and permissions of a share, or its beginning and end.
        case share(ShareChange)
    }

    package var container: String
    package var environment: Environment
    package var action: Action
}

/// The outcome of a change.
package enum OperatorChangeOutcome: Sendable {
    case done
    /// With a token or a private key, which is shown once.
    case secret(String)
    /// A sentence or two: why, and what to do. Nothing was changed.
    case refused(String)
    /// A sentence or two. Whether anything was changed is unknown.
    case unknown(String)
}

extension OperatorChange.Action {
    /// The change as part of a sentence, for the record of changes; it has no secret.
    var text: String {
        switch self {
        case .schema(.replaceDevelopment): "replace the schema of development"
        case .schema(.deploy): "deploy the schema of development to production"
        case .schema(.resetDevelopment): "delete all data of development"
        case .addUser(let name): "add the user \(name)"
        case .renewUser(let name): "give \(name) a new token in place of all others"
        case .revokeUser(let name): "revoke the tokens of \(name)"
        case .deleteUser(let name): "delete \(name) with all private data"
        case .setContacts(let contacts, let user): "set \(contacts.count) contacts of \(user)"
        case .setRole(let role, let user, true): "give \(user) the role \(role)"
        case .setRole(let role, let user, false): "take the role \(role) from \(user)"
        case .addKey(let service, let users, let isReadOnly):
            "register a \(isReadOnly ? "read-only " : "")key of \(service)"
                + (users.isEmpty ? "" : " on behalf of \(users.joined(separator: ", "))")
        case .revokeKeys(let service, let keyID?): "revoke the key \(keyID) of \(service)"
        case .revokeKeys(let service, nil): "revoke all keys of \(service)"
        case .deleteZone(let zone, let user): "delete the zone \(zone) of \(user)"
        case .share(let change): change.words
        }
    }
}
