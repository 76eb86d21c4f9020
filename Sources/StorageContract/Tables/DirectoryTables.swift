package import RecordModel

/// A container.
///
/// The row of one that is deleted stays, so that no other gets its number; its identifier then
/// begins with a hyphen, which no container's does.
package struct ContainerRow: TableRow {
    package static let table = Table(
        "container",
        columns: [
            .integer("number"), .text("identifier"), .integer("created_ms"),
            .optional(.integer("history_days")), .integer("history_since_ms"),
        ],
        key: ["number"],
        numbering: .numbered,
        indexes: [.unique("identifier"), .lookup("history_days").only(where: "history_days")]
    )
    package static let byIdentifier = Self.index(on: "identifier")
    /// Those that keep a history.
    package static let byHistory = Self.index(on: "history_days")

    package var number: Int64 = 0
    package var identifier: String
    package var createdMilliseconds: Int64
    /// The number of days of the history; `nil` if the container keeps none.
    package var historyDays: Int64?
    /// When the container began to keep a history, the last time that it did; 0 if it never did.
    package var historySinceMilliseconds: Int64 = 0

    package init(identifier: String, createdMilliseconds: Int64) {
        self.identifier = identifier
        self.createdMilliseconds = createdMilliseconds
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.identifier = try columns.next()
        self.createdMilliseconds = try columns.next()
        self.historyDays = try columns.next()
        self.historySinceMilliseconds = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.identifier)
        columns.append(self.createdMilliseconds)
        columns.append(self.historyDays)
        columns.append(self.historySinceMilliseconds)
    }

    package var isDeleted: Bool { self.identifier.hasPrefix("-") }
}

/// An environment of a container.
package struct EnvironmentRow: TableRow {
    package static let table = Table(
        "environment",
        columns: [.integer("number"), .integer("container"), .integer("kind")],
        key: ["number"],
        numbering: .numbered,
        indexes: [.unique("container", "kind")]
    )
    package static let byContainer = Self.index(on: "container", "kind")

    package var number = EnvironmentID(rawValue: 0)
    package var container: Int64
    package var kind: Environment

    package init(container: Int64, kind: Environment) {
        self.container = container
        self.kind = kind
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.container = try columns.next()
        self.kind = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.container)
        columns.append(self.kind)
    }
}

/// A user or a service of a container.
package struct UserRow: TableRow {
    package static let table = Table(
        "user",
        columns: [
            .integer("number"), .integer("container"), .text("name"), .text("record_name"),
            .integer("created_ms"), .optional(.bytes("token_hash")), .integer("kind"),
            .integer("is_revoked"), .optional(.bytes("previous_hash")),
            .optional(.integer("previous_until_ms")), .integer("credential_version"),
            .optional(.integer("restricted_ms")),
        ],
        key: ["number"],
        numbering: .numbered,
        indexes: [
            .unique("record_name"), .unique("container", "name"), .unique("container", "token_hash"),
            .lookup("container", "previous_hash").only(where: "previous_hash"),
            .lookup("credential_version"),
        ]
    )
    package static let byRecordName = Self.index(on: "record_name")
    package static let byName = Self.index(on: "container", "name")
    package static let byToken = Self.index(on: "container", "token_hash")
    package static let byPreviousToken = Self.index(on: "container", "previous_hash")
    package static let byCredentialVersion = Self.index(on: "credential_version")

    package enum Kind: Int64, ColumnConvertible {
        case person = 0
        case service = 1
        /// The row stays and keeps its number from being used again.
        case deleted = 2
    }

    package var number = UserNumber(rawValue: 0)
    package var container: Int64
    package var name: String
    package var recordName: String
    package var createdMilliseconds: Int64
    /// SHA-256 of the access token; `nil` if the user has none.
    package var tokenHash: [UInt8]?
    package var kind: Kind
    package var isRevoked = false
    /// The token before, which is good until a moment.
    package var previousHash: [UInt8]?
    package var previousUntilMilliseconds: Int64?
    /// Ascends in the whole store: taken anew whenever something changes that could end a
    /// connection of the user.
    package var credentialVersion: Int64 = 0
    /// Since when the user's data may only be stored; `nil` if they may be processed.
    package var restrictedMilliseconds: Int64?

    package init(
        container: Int64,
        name: String,
        recordName: String,
        createdMilliseconds: Int64,
        tokenHash: [UInt8]? = nil,
        kind: Kind = .person
    ) {
        self.container = container
        self.name = name
        self.recordName = recordName
        self.createdMilliseconds = createdMilliseconds
        self.tokenHash = tokenHash
        self.kind = kind
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.container = try columns.next()
        self.name = try columns.next()
        self.recordName = try columns.next()
        self.createdMilliseconds = try columns.next()
        self.tokenHash = try columns.next()
        self.kind = try columns.next()
        self.isRevoked = try columns.next()
        self.previousHash = try columns.next()
        self.previousUntilMilliseconds = try columns.next()
        self.credentialVersion = try columns.next()
        self.restrictedMilliseconds = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.container)
        columns.append(self.name)
        columns.append(self.recordName)
        columns.append(self.createdMilliseconds)
        columns.append(self.tokenHash)
        columns.append(self.kind)
        columns.append(self.isRevoked)
        columns.append(self.previousHash)
        columns.append(self.previousUntilMilliseconds)
        columns.append(self.credentialVersion)
        columns.append(self.restrictedMilliseconds)
    }

    package var isRestricted: Bool { self.restrictedMilliseconds != nil }
}

/// An e-mail address or a phone number by which others find a user.
package struct UserContactRow: TableRow {
    package static let table = Table(
        "user_contact",
        columns: [.integer("container"), .integer("kind"), .text("value"), .integer("user")],
        key: ["container", "kind", "value"],
        indexes: [.lookup("user")]
    )
    package static let byUser = Self.index(on: "user")

    package var container: Int64
    package var kind: Int64
    package var value: String
    package var user: UserNumber

    package init(container: Int64, contact: UserContact, user: UserNumber) {
        self.container = container
        self.kind = contact.kind
        self.value = contact.value
        self.user = user
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.container = try columns.next()
        self.kind = try columns.next()
        self.value = try columns.next()
        self.user = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.container)
        columns.append(self.kind)
        columns.append(self.value)
        columns.append(self.user)
    }
}

/// A key of a service.
package struct ServiceKeyRow: TableRow {
    package static let table = Table(
        "service_key",
        columns: [
            .integer("number"), .integer("container"), .integer("user"), .text("key_id"),
            .bytes("public_key"), .integer("created_ms"), .optional(.integer("revoked_ms")),
            .integer("is_read_only"),
        ],
        key: ["number"],
        numbering: .numberedOnce,
        indexes: [.unique("container", "key_id"), .lookup("user")]
    )
    package static let byID = Self.index(on: "container", "key_id")
    package static let byService = Self.index(on: "user")

    package var number: Int64 = 0
    package var container: Int64
    package var service: UserNumber
    /// 64 hexadecimal digits.
    package var keyID: String
    /// SubjectPublicKeyInfo in DER.
    package var publicKey: [UInt8]
    package var createdMilliseconds: Int64
    /// `nil` while the key is good.
    package var revokedMilliseconds: Int64?
    /// Whether a connection with the key may change anything.
    package var isReadOnly: Bool

    package init(
        container: Int64,
        service: UserNumber,
        keyID: String,
        publicKey: [UInt8],
        createdMilliseconds: Int64,
        isReadOnly: Bool = false
    ) {
        self.container = container
        self.service = service
        self.keyID = keyID
        self.publicKey = publicKey
        self.createdMilliseconds = createdMilliseconds
        self.isReadOnly = isReadOnly
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.container = try columns.next()
        self.service = try columns.next()
        self.keyID = try columns.next()
        self.publicKey = try columns.next()
        self.createdMilliseconds = try columns.next()
        self.revokedMilliseconds = try columns.next()
        self.isReadOnly = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.container)
        columns.append(self.service)
        columns.append(self.keyID)
        columns.append(self.publicKey)
        columns.append(self.createdMilliseconds)
        columns.append(self.revokedMilliseconds)
        columns.append(self.isReadOnly)
    }

    package var isRevoked: Bool { self.revokedMilliseconds != nil }
}

/// A user for whom a key of a service may act.
package struct ServiceKeyUserRow: TableRow {
    package static let table = Table(
        "service_key_user",
        columns: [.integer("service_key"), .integer("user")],
        key: ["service_key", "user"]
    )

    package var key: Int64
    package var user: UserNumber

    package init(key: Int64, user: UserNumber) {
        self.key = key
        self.user = user
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.key = try columns.next()
        self.user = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.key)
        columns.append(self.user)
    }
}

/// Random bytes that only servers of the store know.
package struct SecretRow: TableRow {
    package static let table = Table(
        "secret",
        columns: [.text("name"), .bytes("bytes")],
        key: ["name"]
    )

    package var name: String
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.name = try columns.next()
        self.bytes = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.name)
        columns.append(self.bytes)
    }
}

extension Environment: ColumnConvertible {
    package init?(columnValue: ColumnValue) {
        guard case .integer(let number) = columnValue, let raw = UInt8(exactly: number) else { return nil }
        self.init(rawValue: raw)
    }

    package var columnValue: ColumnValue { .integer(Int64(self.rawValue)) }
}

extension DatabaseScope: ColumnConvertible {
    package init?(columnValue: ColumnValue) {
        guard case .integer(let number) = columnValue, let raw = UInt8(exactly: number) else { return nil }
        self.init(rawValue: raw)
    }

    package var columnValue: ColumnValue { .integer(Int64(self.rawValue)) }
}
