import ArgumentParser
import RecordStore
import StorageContract

/// `--json`, for commands with one object as their result.
struct ResultOption: ParsableArguments {
    @Flag(help: "Print a JSON object.")
    var json = false

    /// Writes the object, or otherwise what people read.
    func write(_ object: some Encodable, otherwise text: () -> Void) throws {
        if self.json { Terminal.write(try JSONText.of(object)) } else { text() }
    }
}

/// A user who was added or changed.
struct UserResult: Encodable {
    let container: String
    let name: String
    var userRecordName: String?
    /// Not shown again.
    var token: String?
    /// The time for which the previous token stays valid.
    var overlapSeconds: Int?
    /// Whether no request of the user is executed.
    var restricted: Bool?
    /// E-mail addresses and phone numbers.
    var contacts: [String]?

    init(_ user: UserArguments) {
        self.container = user.container
        self.name = user.name
    }
}

/// The roles of a user after a change.
struct RoleResult: Encodable {
    let container: String
    let name: String
    let environment: String
    let roles: [String]
}

/// A key that was registered, or how many were revoked.
struct KeyResult: Encodable {
    let container: String
    let service: String
    var keyID: String?
    var readOnly: Bool?
    /// In PEM; stored nowhere.
    var privateKey: String?
    var revoked: Int?

    init(_ service: ServiceArguments) {
        self.container = service.container
        self.service = service.name
    }
}

/// The data that was deleted with a user or a container.
struct DeletionResult: Encodable {
    let name: String
    let users: Int
    let records: Int64
    let assets: Int64
    let bytes: Int64
    let shares: Int
    let joinedShares: Int
    /// Of before, which have what was deleted.
    let backups: [String]

    init(of name: String, _ extent: DeletionExtent, _ backups: EarlierBackups) {
        self.name = name
        self.users = extent.users
        self.records = extent.stored.records
        self.assets = extent.stored.assets
        self.bytes = extent.stored.bytes
        self.shares = extent.shares
        self.joinedShares = extent.memberships
        self.backups = backups.names
    }
}

/// The changes of a schema, in the order in which people read them.
struct SchemaResult: Encodable {
    struct Change: Encodable {
        /// `added`, `removed` or `changed`.
        let change: String
        /// In the schema language.
        let text: String
        /// The record type of a field or grant.
        let within: String?
    }

    let container: String
    let changes: [Change]

    init(_ difference: SchemaDifference, container: String) {
        self.container = container
        var outer: String?
        self.changes = difference.lines.map { line in
            if !line.isInner { outer = line.text }
            return Change(
                change: line.sign.name,
                text: line.text,
                within: line.isInner ? outer : nil
            )
        }
    }
}

extension SchemaDifference.Sign {
    fileprivate var name: String {
        switch self {
        case .added: "added"
        case .removed: "removed"
        case .changed: "changed"
        }
    }
}
