import GRDBSQLite
import RecordModel
import StorageContract

/// Counters of the contents of databases.
final class WriterUsage {
    /// The container and user with the quotas that a database counts toward.
    private struct Account {
        let container: Int64
        /// The number of the user; 0 if there is none.
        let owner: Int64
    }

    private var accounts: [DatabaseID: Account] = [:]
    /// Stored bytes of containers and users as of the last commit; kept while there are quotas.
    private var containerBytes: [Int64: Int64] = [:]
    private var userBytes: [Int64: Int64] = [:]
    private let statements: UsageStatements
    private let order: ChangeOrder
    private let entries: WriterEntries
    private let positions: WriterPositions
    private let reports: CommitReports

    init(
        _ connection: OpaquePointer,
        order: ChangeOrder,
        entries: WriterEntries,
        positions: WriterPositions,
        reports: CommitReports
    ) throws(StorageFailure) {
        self.statements = try UsageStatements(connection)
        self.order = order
        self.entries = entries
        self.positions = positions
        self.reports = reports
    }

    var count: Int { self.accounts.count }

    func forget() {
        self.accounts.removeAll()
        self.containerBytes.removeAll()
        self.userBytes.removeAll()
    }

    func bytesStored(
        under quota: Quota,
        with database: DatabaseID
    ) throws(StorageFailure) -> Int64? {
        let account = try self.account(of: database)
        let counted = try self.bytesCounted(quota.holder, account)
        // Queued entries are not counted yet, which matters when little room is left.
        guard let counted,
            counted.adding(clamped: self.entries.bytesMax) > quota.bytesMax, !self.entries.isEmpty
        else {
            return counted
        }
        try self.entries.write()
        return try self.bytesCounted(quota.holder, account)
    }

    private func bytesCounted(
        _ holder: Quota.Holder,
        _ account: Account
    ) throws(StorageFailure) -> Int64? {
        switch holder {
        case .container:
            return try self.bytes(ofContainer: account.container)
                .adding(clamped: self.pendingBytes { $0.container == account.container })
        case .user:
            guard account.owner != 0 else { return nil }
            return try self.bytes(ofUser: account.owner)
                .adding(clamped: self.pendingBytes { $0.owner == account.owner })
        }
    }

    /// Bytes added by the transaction so far to the databases of an account.
    private func pendingBytes(of isCounted: (Account) -> Bool) throws(StorageFailure) -> Int64 {
        var bytes: Int64 = 0
        for usage in self.order.pending.usages where usage.bytes != 0 {
            if isCounted(try self.account(of: usage.database)) {
                bytes = bytes.adding(clamped: usage.bytes)
            }
        }
        return bytes
    }

    private func account(of database: DatabaseID) throws(StorageFailure) -> Account {
        if let known = self.accounts[database] { return known }
        let statement = self.statements.account
        statement.bind(1, database.rawValue)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        let account = Account(container: statement.integer(0), owner: statement.integer(1))
        self.accounts[database] = account
        return account
    }

    private func bytes(ofContainer container: Int64) throws(StorageFailure) -> Int64 {
        if let known = self.containerBytes[container] { return known }
        let bytes = try self.bytes(self.statements.containerBytes, of: container)
        self.containerBytes[container] = bytes
        return bytes
    }

    private func bytes(ofUser owner: Int64) throws(StorageFailure) -> Int64 {
        if let known = self.userBytes[owner] { return known }
        let bytes = try self.bytes(self.statements.userBytes, of: owner)
        self.userBytes[owner] = bytes
        return bytes
    }

    private func bytes(_ statement: HotStatement, of number: Int64) throws(StorageFailure) -> Int64 {
        statement.bind(1, number)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return try statement.integer(0).counted()
    }

    /// Writes positions, and the growth of databases.
    func write() throws(StorageFailure) {
        for usage in self.order.pending.usages where !usage.isEmpty {
            if !self.containerBytes.isEmpty || !self.userBytes.isEmpty {
                let account = try self.account(of: usage.database)
                let (container, owner) = (account.container, account.owner)
                self.containerBytes[container] = self.containerBytes[container]?.adding(clamped: usage.bytes)
                self.userBytes[owner] = self.userBytes[owner]?.adding(clamped: usage.bytes)
            }
            if self.positions.isChanged(usage.database) { continue }
            try self.advance(usage.database, to: self.positions.last(of: usage.database), usage)
        }
        for database in self.positions.changed {
            let position = try self.positions.last(of: database)
            self.reports.advanced(database, to: position)
            try self.advance(database, to: position, self.order.pending.usage(of: database))
            self.positions.wasWritten(database)
        }
    }

    private func advance(
        _ database: DatabaseID,
        to position: Int64,
        _ usage: PendingChanges.Usage?
    ) throws(StorageFailure) {
        let statement = self.statements.advance
        statement.bind(1, database.rawValue)
        statement.bind(2, position)
        statement.bind(3, Int64(usage?.records ?? 0))
        statement.bind(4, Int64(usage?.recordBytes ?? 0))
        statement.bind(5, Int64(usage?.assets ?? 0))
        statement.bind(6, usage?.assetBytes ?? 0)
        statement.bind(7, Int64(usage?.rowBytes ?? 0))
        try statement.run()
    }
}

/// Statements of the writer for databases' usage.
struct UsageStatements {
    let advance, account, containerBytes, userBytes: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.advance = try statement(
            """
            UPDATE database SET position = ?2,
                record_count = \(ChangeStatements.counted("record_count")) + ?3,
                record_bytes = \(ChangeStatements.counted("record_bytes")) + ?4,
                asset_count = \(ChangeStatements.counted("asset_count")) + ?5,
                asset_bytes = \(ChangeStatements.counted("asset_bytes")) + ?6,
                row_bytes = \(ChangeStatements.counted("row_bytes")) + ?7
            WHERE number = ?1
            """
        )
        self.account = try statement(
            """
            SELECT environment.container, database.owner FROM database
            JOIN environment ON environment.number = database.environment WHERE database.number = ?
            """
        )
        self.containerBytes = try statement(
            """
            SELECT coalesce(sum(record_bytes + asset_bytes + row_bytes), 0) FROM environment
            JOIN database ON database.environment = environment.number
            WHERE environment.container = ?
            """
        )
        self.userBytes = try statement(
            """
            SELECT coalesce(sum(record_bytes + asset_bytes + row_bytes), 0) FROM user
            JOIN environment ON environment.container = user.container
            JOIN database ON database.environment = environment.number
                AND database.scope IN (2, 3) AND database.owner = user.number
            WHERE user.number = ?
            """
        )
    }
}
