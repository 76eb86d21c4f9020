import RecordModel
import StorageContract

/// Rules of the directory that read.
struct DirectoryLookup {
    let rows: any TableReader

    func containers() throws(StorageFailure) -> [String] {
        try self.rows.rows(RowRange(ContainerRow.byIdentifier)).filter { !$0.isDeleted }.map(\.identifier)
    }

    func container(_ identifier: String) throws -> Int64 {
        guard let row = try self.rows.row(ContainerRow.byIdentifier, identifier) else {
            throw DirectoryError.containerMissing
        }
        return row.number
    }

    func environments(ofContainer container: Int64) throws(StorageFailure) -> [EnvironmentRow] {
        try self.rows.rows(RowRange(EnvironmentRow.byContainer, container))
    }

    func secret(named name: String) throws(StorageFailure) -> [UInt8]? {
        try self.rows.row(SecretRow.byKey, name)?.bytes
    }

    // MARK: Users

    func users(ofContainer identifier: String) throws -> [DirectoryUser] {
        let container = try self.container(identifier)
        return try self.rows.rows(RowRange(UserRow.byName, container)).filter { $0.kind != .deleted }.map {
            DirectoryUser(
                name: $0.name,
                userRecordName: $0.recordName,
                createdMilliseconds: $0.createdMilliseconds,
                isRevoked: $0.isRevoked,
                isRestricted: $0.isRestricted,
                isService: $0.kind == .service,
                contacts: try self.rows.rows(RowRange(UserContactRow.byUser, $0.number)).map(\.value)
            )
        }
    }

    func user(named name: String, in container: Int64) throws -> UserRow {
        guard let row = try self.rows.row(UserRow.byName, container, name), row.kind != .deleted else {
            throw DirectoryError.userMissing
        }
        return row
    }

    /// The version of the last change of a credential; 0 if there was none.
    func credentialVersion() throws(StorageFailure) -> Int64 {
        let last = try self.rows.rows(RowRange(UserRow.byCredentialVersion).descending, limit: 1)
        return try (last.first?.credentialVersion ?? 0).counted()
    }

    func credentialChanges(after version: Int64) throws(StorageFailure) -> CredentialChanges {
        let last = try self.credentialVersion()
        guard last > version else { return CredentialChanges(version: last, users: []) }
        let users = try self.rows.rows(RowRange(UserRow.byCredentialVersion).after(version))
        return CredentialChanges(version: last, users: Set(users.map(\.number)))
    }

    // MARK: Keys

    func serviceKeys(ofContainer identifier: String) throws -> [DirectoryServiceKey] {
        let container = try self.container(identifier)
        let keys = try self.rows.rows(RowRange(ServiceKeyRow.byID, container))
        let services = try self.rows.rows(UserRow.byKey, keys: keys.map(\.service))
        let named = zip(keys, services).compactMap { key, service in service.map { (key: key, service: $0) } }
        let sorted = named.sorted {
            (ColumnValue.text($0.service.name), $0.key.number)
                < (ColumnValue.text($1.service.name), $1.key.number)
        }
        return try sorted.map { key, service in
            let links = try self.rows.rows(RowRange(ServiceKeyUserRow.byKey, key.number))
            let users = try self.rows.rows(UserRow.byKey, keys: links.map(\.user))
            return DirectoryServiceKey(
                serviceName: service.name,
                userRecordName: service.recordName,
                keyID: key.keyID,
                createdMilliseconds: key.createdMilliseconds,
                isRevoked: key.isRevoked,
                onBehalfOf: users.compactMap(\.?.name).sorted { ColumnValue.text($0) < .text($1) },
                isReadOnly: key.isReadOnly
            )
        }
    }

    /// A key that was not revoked.
    func goodKey(_ id: String, in container: Int64) throws(StorageFailure) -> ServiceKeyRow? {
        guard let key = try self.rows.row(ServiceKeyRow.byID, container, id), !key.isRevoked else {
            return nil
        }
        return key
    }

    /// Whether a key may act for a user who is not its service.
    func mayAct(_ key: Int64, for user: UserNumber) throws(StorageFailure) -> Bool {
        try self.rows.row(ServiceKeyUserRow.byKey, key, user) != nil
    }

    // MARK: Usage

    /// Maximum number of users for which rows are read together.
    private static let usersMax = 1_000

    /// The amounts stored in the databases of a container: the public ones, then the others by
    /// user.
    func usage(ofContainer identifier: String) throws -> ContainerUsage {
        var users: [UserNumber: [Environment: StoredAmount]] = [:]
        var open: [DatabaseUsage] = []
        for environment in try self.environments(ofContainer: self.container(identifier)) {
            try self.rows.visit(RowRange(DatabaseRow.byOwner, environment.number)) {
                (database) throws(StorageFailure) in
                guard database.owner != DatabaseRow.nobody else {
                    return open.append(
                        DatabaseUsage(environment: environment.kind, user: nil, amount: database.stored)
                    )
                }
                users[database.owner, default: [:]][environment.kind, default: StoredAmount()]
                    .add(database.stored)
            }
        }
        var named: [(name: String, amounts: [Environment: StoredAmount])] = []
        let numbers = Array(users.keys)
        for start in stride(from: 0, to: numbers.count, by: Self.usersMax) {
            let some = Array(numbers[start..<min(start + Self.usersMax, numbers.count)])
            for case let row? in try self.rows.rows(UserRow.byKey, keys: some) where row.kind != .deleted {
                named.append((row.name, users[row.number] ?? [:]))
            }
        }
        named.sort { ColumnValue.text($0.name) < .text($1.name) }
        let own = named.flatMap { name, amounts in
            Environment.allCases.compactMap { environment in
                amounts[environment].map {
                    DatabaseUsage(environment: environment, user: name, amount: $0)
                }
            }
        }
        return ContainerUsage(databases: open + own)
    }

    /// The amounts stored in some databases behind a number, and the last of them; `nil` if there
    /// are none.
    func storedAmount(
        after database: DatabaseID,
        limit: Int
    ) throws(StorageFailure) -> (amount: StoredAmount, last: DatabaseID)? {
        let some = try self.rows.rows(RowRange(DatabaseRow.byKey).after(database), limit: limit)
        guard let last = some.last else { return nil }
        return (some.reduce(into: StoredAmount()) { $0.add($1.stored) }, last.number)
    }
}
