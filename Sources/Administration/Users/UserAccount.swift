package import RecordModel
package import RecordServer
package import RecordStore

/// A user of a container, by the name that the operator gave.
package struct UserAccount: Sendable {
    package let name: String
    package let container: String
    private let store: Store

    package init(_ name: String, of container: String, in store: Store) {
        self.name = name
        self.container = container
        self.store = store
    }

    private func change(
        _ call: (Directory) throws(DirectoryError) -> Void
    ) throws(AdministrationError) {
        try self.store.directory(self.container, user: self.name, call)
    }

    /// Adds the user, with the token that is returned.
    package func add() throws(AdministrationError) -> (userRecordName: String, token: AccessToken) {
        let token = AccessToken()
        let recordName = RandomNames.userRecordName()
        try self.change { (directory) throws(DirectoryError) in
            try directory.addUser(
                named: self.name,
                userRecordName: recordName,
                tokenHash: token.hash,
                toContainer: self.container
            )
        }
        return (recordName, token)
    }

    // MARK: Tokens

    /// Replaces all tokens of the user with the one that is returned.
    package func renew() throws(AdministrationError) -> AccessToken {
        let token = AccessToken()
        try self.change { (directory) throws(DirectoryError) in
            try directory.renewToken(
                ofUser: self.name,
                inContainer: self.container,
                tokenHash: token.hash
            )
        }
        return token
    }

    /// Gives the user the token that is returned; the one before it stays valid for a while.
    package func rotate(overlapSeconds: Int) throws(AdministrationError) -> AccessToken {
        let token = AccessToken()
        try self.change { (directory) throws(DirectoryError) in
            try directory.rotateToken(
                ofUser: self.name,
                inContainer: self.container,
                tokenHash: token.hash,
                overlapMilliseconds: Int64(overlapSeconds) * 1_000
            )
        }
        return token
    }

    /// Revokes every token.
    package func revoke() throws(AdministrationError) {
        try self.change { (directory) throws(DirectoryError) in
            try directory.revokeUser(named: self.name, inContainer: self.container)
        }
    }

    // MARK: Rights and addresses

    /// Restricts the user, or lifts that.
    package func restrict(_ isRestricted: Bool) throws(AdministrationError) {
        try self.change { (directory) throws(DirectoryError) in
            try directory.setRestriction(isRestricted, ofUser: self.name, inContainer: self.container)
        }
    }

    /// Replaces the addresses and numbers by which others find the user.
    package func setContacts(_ contacts: [IdentityLookup]) throws(AdministrationError) {
        try self.change { (directory) throws(DirectoryError) in
            try directory.setContacts(contacts, ofUser: self.name, inContainer: self.container)
        }
    }

    /// The custom roles of the user in an environment, by name.
    package func roles(in environment: Environment) throws(AdministrationError) -> [String] {
        try self.store.schemas(self.container, user: self.name) { (schemas) throws(SchemaStoreError) in
            try schemas.roles(ofUser: self.name, inContainer: self.container, environment: environment)
        }
    }

    /// Gives the user a role of an environment's schema, or takes it away.
    package func setRole(
        _ role: String,
        isGiven: Bool,
        in environment: Environment
    ) throws(AdministrationError) {
        try self.store.schemas(self.container, user: self.name, role: role) {
            (schemas) throws(SchemaStoreError) in
            try schemas.setRole(
                role,
                ofUser: self.name,
                isGiven: isGiven,
                inContainer: self.container,
                environment: environment
            )
        }
    }
}
