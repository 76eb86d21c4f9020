import RecordModel
import StorageContract

/// Zones, references to records, and the usage of databases and users.
extension PostgreSQLTransaction {
    // MARK: Zones

    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        let known = WriterKnowledge.ZoneName(database: database, name: name)
        if let key = self.knowledge.zones[known] { return key }
        guard let key = try self.connection.zone(named: name, in: database) else { return nil }
        self.knowledge.zones[known] = key
        return key
    }

    func insertZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey {
        try self.requireStore()
        try self.connection.write(
            ZoneSQL.insertZone,
            [.integer(database.rawValue), .text(name), .integer(position)]
        )
        let key = ZoneKey(database: database, number: position)
        self.knowledge.zones[WriterKnowledge.ZoneName(database: database, name: name)] = key
        return key
    }

    func deleteZone(_ zone: ZoneKey, named name: String) throws(StorageFailure) -> StoredAmount {
        try self.requireStore()
        let row = try self.connection.rows(ZoneSQL.contents, zone.parameters)
        guard !row.isEmpty else { throw .unexpected(code: 4) }
        let growth = self.growth.zones.removeValue(forKey: zone) ?? Growth.Zone()
        self.knowledge.zones[WriterKnowledge.ZoneName(database: zone.database, name: name)] = nil
        try self.connection.write(ZoneSQL.deleteZone, zone.parameters)
        return StoredAmount(
            records: try row.integer(0, 0).counted() + growth.records,
            recordBytes: try row.integer(0, 1).counted() + growth.recordBytes,
            assets: 0,
            assetBytes: 0,
            rowBytes: try row.integer(0, 2).counted() + growth.rowBytes
        )
    }

    // MARK: References

    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]] {
        try self.require(zone.database)
        let lists = try self.connection.referrers(of: targets, in: zone, behind: name, limit: limit)
        for referrers in lists { self.workDone += 1 + referrers.count / 8 }
        return lists
    }

    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int] {
        try self.require(zone.database)
        let counts = try self.connection.countsOfDeleteSelfReferrers(of: targets, in: zone, limit: limit)
        for count in counts { self.workDone += 1 + count / 64 }
        return counts
    }

    // MARK: Usage

    func count(_ growth: StoredAmount, in database: DatabaseID) { self.growth.count(growth, in: database) }

    func count(rowBytes: Int, in zone: ZoneKey) { self.growth.count(rowBytes: rowBytes, in: zone) }

    func bytesStored(
        under quota: Quota,
        with database: DatabaseID
    ) throws(StorageFailure) -> Int64? {
        // Sent statements may have deleted or added rows that are not counted yet.
        try self.connection.drain()
        let account = try self.account(of: database)
        switch quota.holder {
        case .container:
            let stored = try self.bytes(ofContainer: account.container)
            return stored.adding(
                clamped: try self.pendingBytes { $0.container == account.container }
            )
        case .user:
            guard account.owner != 0 else { return nil }
            let stored = try self.bytes(ofUser: account.owner)
            return stored.adding(clamped: try self.pendingBytes { $0.owner == account.owner })
        }
    }

    /// Bytes added by the transaction so far to the databases of a user.
    private func pendingBytes(
        of isCounted: (WriterKnowledge.Account) -> Bool
    ) throws(StorageFailure) -> Int64 {
        var bytes: Int64 = 0
        for (database, amount) in self.growth.databases where amount.bytes != 0 {
            if isCounted(try self.account(of: database)) { bytes = bytes.adding(clamped: amount.bytes) }
        }
        return bytes
    }

    private func account(of database: DatabaseID) throws(StorageFailure) -> WriterKnowledge.Account {
        if let known = self.knowledge.accounts[database] { return known }
        let rows = try self.connection.rows(ZoneSQL.account, [.integer(database.rawValue)])
        guard !rows.isEmpty else { throw .unexpected(code: 5) }
        let account = WriterKnowledge.Account(container: rows.integer(0, 0), owner: rows.integer(0, 1))
        self.knowledge.accounts[database] = account
        return account
    }

    private func bytes(ofContainer container: Int64) throws(StorageFailure) -> Int64 {
        if let known = self.knowledge.containerBytes[container] { return known }
        let rows = try self.connection.rows(ZoneSQL.containerBytes, [.integer(container)])
        let bytes = try rows.integer(0, 0).counted()
        self.knowledge.containerBytes[container] = bytes
        return bytes
    }

    private func bytes(ofUser user: Int64) throws(StorageFailure) -> Int64 {
        if let known = self.knowledge.userBytes[user] { return known }
        let bytes = try self.connection.rows(ZoneSQL.userBytes, [.integer(user)]).integer(0, 0).counted()
        self.knowledge.userBytes[user] = bytes
        return bytes
    }
}
