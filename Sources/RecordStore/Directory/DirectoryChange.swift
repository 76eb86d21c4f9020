import RecordModel
import StorageContract

/// Rules of the directory that change something, within one transaction.
struct DirectoryChange {
    let rows: any TableWriter
    let nowMilliseconds: Int64

    /// Good keys of one service: enough to change one for another on many machines.
    static let keysMax = 16

    private var lookup: DirectoryLookup { DirectoryLookup(rows: self.rows) }

    func createContainer(_ identifier: String) throws {
        guard NameRules.isContainerID(identifier) else { throw DirectoryError.containerNameInvalid }
        guard try self.rows.row(ContainerRow.byIdentifier, identifier) == nil else {
            throw DirectoryError.containerExists
        }
        let container = try self.rows.insert(
            ContainerRow(identifier: identifier, createdMilliseconds: self.nowMilliseconds)
        )
        for kind in Environment.allCases {
            let number = try self.rows.insert(EnvironmentRow(container: container, kind: kind))
            try DatabaseCreation(
                rows: self.rows,
                environment: EnvironmentID(rawValue: number),
                nowMilliseconds: self.nowMilliseconds
            ).create(.public, of: DatabaseRow.nobody)
        }
    }

    /// Keeps a secret that exists already.
    func storeSecret(named name: String, _ bytes: [UInt8]) throws(StorageFailure) {
        guard try self.lookup.secret(named: name) == nil else { return }
        try self.rows.put(SecretRow(name: name, bytes: bytes))
    }

    // MARK: Users

    func addUser(
        named name: String,
        userRecordName: String,
        tokenHash: [UInt8]?,
        toContainer container: String
    ) throws {
        let row = UserRow(
            container: try self.lookup.container(container),
            name: name,
            recordName: userRecordName,
            createdMilliseconds: self.nowMilliseconds,
            tokenHash: tokenHash
        )
        guard try self.isFree(row) else { throw DirectoryError.userExists }
        _ = try self.rows.insert(row)
    }

    /// Whether no user has the name, the record name or the token of a new user.
    private func isFree(_ user: UserRow) throws(StorageFailure) -> Bool {
        guard try self.rows.row(UserRow.byName, user.container, user.name) == nil,
            try self.rows.row(UserRow.byRecordName, user.recordName) == nil
        else { return false }
        guard let hash = user.tokenHash else { return true }
        return try self.rows.row(UserRow.byToken, user.container, hash) == nil
    }

    /// Ends the credentials of a user, and notifies the watchers of the user.
    func revokeUser(named name: String, inContainer container: String) throws {
        try self.update(name, inContainer: container) { $0.revoke() }
    }

    /// Restricts a user, or lifts the restriction, and notifies the watchers of the user.
    ///
    /// An existing restriction keeps its time.
    func setRestriction(
        _ isRestricted: Bool,
        ofUser name: String,
        inContainer container: String
    ) throws {
        try self.update(name, inContainer: container) { user in
            let since = user.restrictedMilliseconds ?? self.nowMilliseconds
            user.restrictedMilliseconds = isRestricted ? since : nil
        }
    }

    func renewToken(ofUser name: String, inContainer container: String, tokenHash: [UInt8]) throws {
        try self.update(name, inContainer: container) { user in
            user.revoke()
            user.isRevoked = false
            user.tokenHash = tokenHash
        }
    }

    func rotateToken(
        ofUser name: String,
        inContainer container: String,
        tokenHash: [UInt8],
        untilMilliseconds: Int64
    ) throws {
        try self.update(name, inContainer: container) { user in
            guard !user.isRevoked else { throw DirectoryError.userRevoked }
            user.previousHash = user.tokenHash
            user.previousUntilMilliseconds = untilMilliseconds
            user.tokenHash = tokenHash
        }
    }

    func setContacts(
        _ contacts: [IdentityLookup],
        ofUser name: String,
        inContainer container: String
    ) throws {
        let user = try self.person(name, inContainer: container)
        try self.rows.delete(RowRange(UserContactRow.byUser, user.number))
        for contact in Set(contacts.compactMap { UserContact($0) }) {
            let row = UserContactRow(container: user.container, contact: contact, user: user.number)
            guard try self.rows.row(UserContactRow.byKey, row.container, row.kind, row.value) == nil else {
                throw DirectoryError.contactTaken
            }
            try self.rows.put(row)
        }
    }

    private func person(_ name: String, inContainer container: String) throws -> UserRow {
        let user = try self.lookup.user(named: name, in: self.lookup.container(container))
        guard user.kind == .person else { throw DirectoryError.userIsService }
        return user
    }

    /// Changes the credentials of a person.
    private func update(
        _ name: String,
        inContainer container: String,
        _ change: (inout UserRow) throws -> Void
    ) throws {
        var user = try self.person(name, inContainer: container)
        try change(&user)
        user.credentialVersion = try self.lookup.credentialVersion() + 1
        try self.rows.put(user)
    }

    // MARK: Keys

    func addServiceKey(_ key: NewServiceKey, toContainer identifier: String) throws {
        let container = try self.lookup.container(identifier)
        let service = try self.service(for: key, in: container)
        let known = try self.rows.rows(RowRange(ServiceKeyRow.byService, service))
        guard known.count(where: { !$0.isRevoked }) < Self.keysMax else {
            throw DirectoryError.tooManyKeys
        }
        guard try self.rows.row(ServiceKeyRow.byID, container, key.keyID) == nil else {
            throw DirectoryError.keyExists
        }
        let number = try self.rows.insert(
            ServiceKeyRow(
                container: container,
                service: service,
                keyID: key.keyID,
                publicKey: key.publicKey,
                createdMilliseconds: self.nowMilliseconds,
                isReadOnly: key.isReadOnly
            )
        )
        for name in Set(key.onBehalfOf) {
            let user = try self.lookup.user(named: name, in: container)
            guard user.kind == .person else { throw DirectoryError.userMissing }
            try self.rows.put(ServiceKeyUserRow(key: number, user: user.number))
        }
    }

    /// The number of the key's service, which is added when it is new.
    private func service(for key: NewServiceKey, in container: Int64) throws -> UserNumber {
        if let known = try self.rows.row(UserRow.byName, container, key.serviceName) {
            guard known.kind == .service else { throw DirectoryError.userExists }
            return known.number
        }
        let row = UserRow(
            container: container,
            name: key.serviceName,
            recordName: key.userRecordName,
            createdMilliseconds: self.nowMilliseconds,
            kind: .service
        )
        return UserNumber(rawValue: try self.rows.insert(row))
    }

    /// Revokes the good keys of a service, or one of them; returns how many.
    func revokeServiceKeys(
        ofService name: String,
        keyID: String?,
        inContainer identifier: String
    ) throws -> Int {
        var service = try self.lookup.user(named: name, in: self.lookup.container(identifier))
        guard service.kind == .service else { throw DirectoryError.userMissing }
        let revoked = try self.revokeKeys(of: service.number, keyID: keyID)
        guard revoked > 0 else { throw DirectoryError.keyMissing }
        service.credentialVersion = try self.lookup.credentialVersion() + 1
        try self.rows.put(service)
        return revoked
    }

    private func revokeKeys(of service: UserNumber, keyID: String?) throws(StorageFailure) -> Int {
        let keys = try self.rows.rows(RowRange(ServiceKeyRow.byService, service)).filter {
            !$0.isRevoked && (keyID == nil || $0.keyID == keyID)
        }
        for var key in keys {
            key.revokedMilliseconds = self.nowMilliseconds
            try self.rows.put(key)
        }
        return keys.count
    }

    // MARK: Deletion

    /// Ends every credential of the users whom a deletion removes.
    func beginDeletion(_ deletion: Deletion) throws {
        let container = try self.lookup.container(deletion.container)
        let version = try self.lookup.credentialVersion() + 1
        var keys: [Int64] = []
        try self.rows.visit(RowRange(ServiceKeyRow.byID, container)) { (key) throws(StorageFailure) in
            keys.append(key.number)
        }
        func endCredentials(of user: UserRow) throws(StorageFailure) {
            _ = try self.revokeKeys(of: user.number, keyID: nil)
            for key in keys { try self.rows.delete(ServiceKeyUserRow(key: key, user: user.number)) }
            var user = user
            user.revoke()
            user.credentialVersion = version
            try self.rows.put(user)
        }
        switch deletion {
        case .user(let name, _):
            try endCredentials(of: self.lookup.user(named: name, in: container))
        case .container:
            try self.rows.visit(RowRange(UserRow.byName, container)) { (user) throws(StorageFailure) in
                if user.kind != .deleted { try endCredentials(of: user) }
            }
        }
    }
}

extension UserRow {
    fileprivate mutating func revoke() {
        self.tokenHash = nil
        self.previousHash = nil
        self.previousUntilMilliseconds = nil
        self.isRevoked = true
    }
}
