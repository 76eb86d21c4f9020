import GRDBSQLite
import RecordModel
import RecordStore

/// Counters of the contents of databases.
extension WriterTransaction {
    func count(_ growth: StoredAmount, in database: DatabaseID) {
        self.changes.count(growth, in: database)
    }

    func count(rowBytes: Int, in zone: ZoneKey) { self.changes.count(rowBytes: rowBytes, in: zone) }

    func bytesStored(
        under quota: Quota,
        with database: DatabaseID
    ) throws(StorageFailure) -> Int64? {
        let account = try self.account(of: database)
        let counted = try self.bytesCounted(quota.holder, account)
        // Entries that wait are not counted yet, and that matters when little is left.
        guard let counted, counted + self.entries.bytesMax > quota.bytesMax, !self.entries.isEmpty else {
            return counted
        }
        try self.writeEntries()
        return try self.bytesCounted(quota.holder, account)
    }

    private func bytesCounted(
        _ holder: Quota.Holder,
        _ account: WriterCaches.Account
    ) throws(StorageFailure) -> Int64? {
        switch holder {
        case .container:
            return try self.containerBytes(account.container)
                + self.pendingBytes { $0.container == account.container }
        case .user:
            guard account.owner != 0 else { return nil }
            return try self.userBytes(account.owner) + self.pendingBytes { $0.owner == account.owner }
        }
    }

    /// What the transaction has added so far to the databases of somebody.
    private func pendingBytes(
        of isCounted: (WriterCaches.Account) -> Bool
    ) throws(StorageFailure) -> Int64 {
        var bytes: Int64 = 0
        for usage in self.changes.usages where usage.bytes != 0 {
            if isCounted(try self.account(of: usage.database)) { bytes += usage.bytes }
        }
        return bytes
    }

    private func account(of database: DatabaseID) throws(StorageFailure) -> WriterCaches.Account {
        if let known = self.caches.accounts[database] { return known }
        let statement = self.statements.usage.account
        statement.bind(1, database.rawValue)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        let account = WriterCaches.Account(container: statement.integer(0), owner: statement.integer(1))
        self.caches.accounts[database] = account
        return account
    }

    private func containerBytes(_ container: Int64) throws(StorageFailure) -> Int64 {
        if let known = self.caches.containerBytes[container] { return known }
        let bytes = try self.bytes(self.statements.usage.containerBytes, of: container)
        self.caches.containerBytes[container] = bytes
        return bytes
    }

    private func userBytes(_ owner: Int64) throws(StorageFailure) -> Int64 {
        if let known = self.caches.userBytes[owner] { return known }
        let bytes = try self.bytes(self.statements.usage.userBytes, of: owner)
        self.caches.userBytes[owner] = bytes
        return bytes
    }

    private func bytes(_ statement: HotStatement, of number: Int64) throws(StorageFailure) -> Int64 {
        statement.bind(1, number)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return statement.integer(0)
    }

    /// Takes what a zone that is about to be deleted has from the usage of its database.
    ///
    /// Returns the bytes: they count as rows until the sweep has removed them, or a user would fill
    /// the disk faster than it sweeps.
    func dropContents(of zone: ZoneKey, named name: String) throws(StorageFailure) -> Int {
        // What they add is the zone's as well.
        try self.writeEntries()
        let statement = self.statements.zones.contents
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, name)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        let bytes = self.changes.drop(
            records: Int(statement.integer(0)),
            bytes: Int(statement.integer(1)),
            rowBytes: Int(statement.integer(2)),
            of: zone
        )
        self.changes.count(
            rowBytes: bytes + RowBytes.zoneTombstone(named: name) - RowBytes.zone(named: name),
            in: zone.database
        )
        return bytes
    }

    /// Whether a zone is there, and not deleted and about to be swept.
    func isThere(_ zone: ZoneKey) throws(StorageFailure) -> Bool {
        let statement = self.statements.usage.zone
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        defer { statement.reset() }
        return try statement.step()
    }

    /// Writes down positions, and what databases have more or less than before.
    func writeCounters() throws(StorageFailure) {
        for usage in self.changes.usages where !usage.isEmpty {
            if !self.caches.containerBytes.isEmpty || !self.caches.userBytes.isEmpty {
                let account = try self.account(of: usage.database)
                self.caches.containerBytes[account.container]? += usage.bytes
                self.caches.userBytes[account.owner]? += usage.bytes
            }
            if self.caches.counters[usage.database]?.isChanged == true { continue }
            try self.advance(usage.database, to: self.lastPosition(of: usage.database), usage)
        }
        for database in self.caches.changedCounters {
            let position = self.caches.counters[database]!.position
            if self.isWatched(database) { self.watchedPositions[database] = position }
            try self.advance(database, to: position, self.changes.usage(of: database))
            self.caches.counters[database]!.isChanged = false
        }
    }

    private func advance(
        _ database: DatabaseID,
        to position: Int64,
        _ usage: PendingChanges.Usage?
    ) throws(StorageFailure) {
        let statement = self.statements.usage.advance
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

/// Statements of the writer about what databases have.
struct UsageStatements {
    let advance, account, containerBytes, userBytes, zone: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.advance = try statement(
            """
            UPDATE database SET position = ?2,
                record_count = record_count + ?3, record_bytes = record_bytes + ?4,
                asset_count = asset_count + ?5, asset_bytes = asset_bytes + ?6,
                row_bytes = row_bytes + ?7
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
        self.zone = try statement("SELECT 1 FROM zone WHERE database = ? AND number = ?")
    }
}
