import GRDBSQLite
import RecordModel
import RecordStore

/// Rows of assets, and which records name them.
extension WriterTransaction {
    private var assets: AssetStatements { self.statements.assets }

    func asset(_ asset: Asset, in database: DatabaseID) throws(StorageFailure) -> AssetNumber? {
        let statement = self.assets.complete
        statement.bind(1, database.rawValue)
        statement.bind(2, asset.sha256)
        statement.bind(3, asset.size)
        return try self.number(statement)
    }

    func isAsset(_ number: AssetNumber, sentBy user: String) throws(StorageFailure) -> Bool {
        let statement = self.assets.isSent
        statement.bind(1, number.rawValue)
        statement.bind(2, try self.authorNumber(user))
        return try self.number(statement) != nil
    }

    func upload(
        of asset: Asset,
        by user: String?,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetNumber? {
        let statement = self.assets.upload
        statement.bind(1, database.rawValue)
        statement.bind(2, asset.sha256)
        statement.bind(3, asset.size)
        statement.bind(4, try self.uploaderNumber(user))
        return try self.number(statement)
    }

    func insertUpload(
        of asset: Asset,
        by user: String?,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetNumber {
        let statement = self.assets.insert
        statement.bind(1, database.rawValue)
        statement.bind(2, asset.sha256)
        statement.bind(3, asset.size)
        statement.bind(4, try self.uploaderNumber(user))
        statement.bind(5, self.nowMilliseconds)
        try statement.run()
        let number = AssetNumber(rawValue: statement.lastInsertedNumber)
        self.changes.count(assets: 1, ofBytes: asset.size, in: database)
        return number
    }

    func renew(_ number: AssetNumber) throws(StorageFailure) {
        self.assets.renew.bind(1, self.nowMilliseconds)
        self.assets.renew.bind(2, number.rawValue)
        try self.assets.renew.run()
    }

    private func uploaderNumber(_ user: String?) throws(StorageFailure) -> Int64 {
        guard let user else { return 0 }
        return try self.authorNumber(user)
    }

    private func number(_ statement: HotStatement) throws(StorageFailure) -> AssetNumber? {
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return AssetNumber(rawValue: statement.integer(0))
    }

    func takeUpload(
        of asset: Asset,
        by user: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetNumber {
        let known = try self.asset(asset, in: database)
        guard let number = try self.upload(of: asset, by: user, in: database),
            let row = try self.assetRow(number)
        else {
            // Another save of the request has taken it.
            guard let known else { throw .unexpected(code: SQLITE_NOTFOUND) }
            return known
        }
        if let known {
            try self.setGoing(row)
            return known
        }
        try self.set(.complete, since: self.nowMilliseconds, number)
        self.assets.removeSenders.bind(1, number.rawValue)
        try self.assets.removeSenders.run()
        return number
    }

    func records(
        naming asset: AssetNumber,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [RecordKey] {
        let statement = self.assets.recordsNaming
        statement.bind(1, asset.rawValue)
        statement.bind(2, zone.database.rawValue)
        statement.bind(3, zone.number)
        statement.bind(4, Int64(limit))
        var records: [RecordKey] = []
        while try statement.step() {
            records.append(RecordKey(zone: zone, number: statement.integer(0)))
        }
        return records
    }

    // MARK: Uses

    func addUse(of number: AssetNumber, by record: RecordKey) throws(StorageFailure) {
        let statement = self.assets.addUse
        statement.bind(1, record.zone.database.rawValue)
        statement.bind(2, record.zone.number)
        statement.bind(3, record.number)
        statement.bind(4, number.rawValue)
        try statement.run()
        if statement.changesCount > 0 { self.changes.count(rowBytes: RowBytes.assetUse, in: record.zone) }
        self.assets.setNamed.bind(1, number.rawValue)
        try self.assets.setNamed.run()
    }

    func removeUse(of asset: Asset, by record: RecordKey) throws(StorageFailure) {
        // What a record names is complete.
        guard let number = try self.asset(asset, in: record.zone.database) else {
            throw .unexpected(code: SQLITE_NOTFOUND)
        }
        try self.removeUses([(record.number, number.rawValue)], in: record.zone)
        self.changes.count(rowBytes: -RowBytes.assetUse, in: record.zone)
    }

    func removeUses(by record: RecordKey) throws(StorageFailure) {
        let statement = self.assets.usesOfRecord
        statement.bind(3, record.number)
        statement.bind(4, Int64.max)
        let count = try self.removeUses(found: statement, in: record.zone)
        self.changes.count(rowBytes: -RowBytes.assetUse * count, in: record.zone)
    }

    /// Removes some of the uses of a zone that was deleted; returns how many.
    func removeUses(inZone zone: ZoneKey, max: Int) throws(StorageFailure) -> Int {
        let statement = self.assets.usesOfZone
        statement.bind(3, Int64(max))
        return try self.removeUses(found: statement, in: zone)
    }

    private func removeUses(
        found statement: HotStatement,
        in zone: ZoneKey
    ) throws(StorageFailure) -> Int {
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        var uses: [(record: Int64, asset: Int64)] = []
        while try statement.step() { uses.append((statement.integer(0), statement.integer(1))) }
        try self.removeUses(uses, in: zone)
        return uses.count
    }

    private func removeUses(
        _ uses: [(record: Int64, asset: Int64)],
        in zone: ZoneKey
    ) throws(StorageFailure) {
        for use in uses {
            let statement = self.assets.removeUse
            statement.bind(1, zone.database.rawValue)
            statement.bind(2, zone.number)
            statement.bind(3, use.record)
            statement.bind(4, use.asset)
            try statement.run()
            self.assets.setUnnamed.bind(1, use.asset)
            self.assets.setUnnamed.bind(2, self.nowMilliseconds)
            try self.assets.setUnnamed.run()
        }
    }

    // MARK: The end of an upload, and of an asset

    /// From now on records may name it, of a participant's upload those that he saves; false: its row is gone, or going.
    func completeUpload(_ number: AssetNumber) throws(StorageFailure) -> Bool {
        guard let row = try self.assetRow(number) else { return false }
        switch row.state {
        case .complete: return true
        case .going: return false
        case .uploading: break
        }
        if row.uploader != 0, try self.isPrivate(row.database) {
            try self.addSender(row.uploader, of: number)
            try self.renew(number)
            return true
        }
        let asset = Asset(sha256: row.sha256, size: row.size)
        // In a public database somebody else may have been quicker: the same bytes are kept once.
        if let known = try self.asset(asset, in: row.database) {
            try self.addSender(row.uploader, of: known)
            try self.renew(known)
            try self.setGoing(row)
            return true
        }
        try self.set(.complete, since: self.nowMilliseconds, number)
        if row.uploader != 0 { try self.addSender(row.uploader, of: number) }
        return true
    }

    /// Gives up an upload.
    func abandonUpload(_ number: AssetNumber) throws(StorageFailure) {
        guard let row = try self.assetRow(number), row.state == .uploading else { return }
        try self.setGoing(row)
    }

    /// Marks what nobody has named or sent since a time, and returns what is marked, that of before included; at most `limit`.
    ///
    /// The time of what is `open` begins anew.
    func markGoing(
        unnamedSince bound: Int64,
        limit: Int,
        but open: Set<AssetNumber>
    ) throws(StorageFailure) -> [AssetNumber] {
        var going = try self.assetNumbers(self.assets.going, limit: limit)
        while going.count < limit {
            self.assets.due.bind(1, min(bound, self.nowMilliseconds - 1))
            let due = try self.assetNumbers(self.assets.due, limitAt: 2, limit: limit - going.count)
            for number in due {
                if open.contains(number) {
                    try self.renew(number)
                } else if let row = try self.assetRow(number) {
                    try self.setGoing(row)
                    going.append(number)
                }
            }
            if due.isEmpty { break }
        }
        return going
    }

    /// Removes the row of an asset whose file is gone.
    func forgetAsset(_ number: AssetNumber) throws(StorageFailure) {
        self.assets.forget.bind(1, number.rawValue)
        try self.assets.forget.run()
    }

    private func assetRow(_ number: AssetNumber) throws(StorageFailure) -> AssetRow? {
        let statement = self.assets.row
        statement.bind(1, number.rawValue)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        guard let state = AssetRow.State(rawValue: statement.integer(3)) else {
            throw .unexpected(code: SQLITE_MISMATCH)
        }
        return AssetRow(
            number: number,
            database: DatabaseID(rawValue: statement.integer(0)),
            sha256: statement.bytes(1),
            size: statement.integer(2),
            state: state,
            uploader: statement.integer(4)
        )
    }

    private func assetNumbers(
        _ statement: HotStatement,
        limitAt column: Int32 = 1,
        limit: Int
    ) throws(StorageFailure) -> [AssetNumber] {
        statement.bind(column, Int64(limit))
        var numbers: [AssetNumber] = []
        while try statement.step() { numbers.append(AssetNumber(rawValue: statement.integer(0))) }
        return numbers
    }

    private func setGoing(_ row: AssetRow) throws(StorageFailure) {
        try self.set(.going, since: nil, row.number)
        self.assets.removeSenders.bind(1, row.number.rawValue)
        try self.assets.removeSenders.run()
        self.changes.count(assets: -1, ofBytes: row.size, in: row.database)
    }

    private func set(
        _ state: AssetRow.State,
        since: Int64?,
        _ number: AssetNumber
    ) throws(StorageFailure) {
        self.assets.setState.bind(1, state.rawValue)
        self.assets.setState.bind(2, since)
        self.assets.setState.bind(3, number.rawValue)
        try self.assets.setState.run()
    }

    func forgetSender(_ user: String) throws(StorageFailure) {
        self.assets.forgetSender.bind(1, try self.authorNumber(user))
        try self.assets.forgetSender.run()
    }

    private func addSender(_ author: Int64, of number: AssetNumber) throws(StorageFailure) {
        self.assets.addSender.bind(1, number.rawValue)
        self.assets.addSender.bind(2, author)
        try self.assets.addSender.run()
    }
}
