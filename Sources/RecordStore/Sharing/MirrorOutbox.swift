import RecordModel
import StorageContract

/// News of zones that shared databases show and do not know yet.
///
/// A shared database has a row for each zone of another user in which its user has joined a share.
/// A write into such a zone leaves entries in two tables: news of a share, which concern all its
/// readers, and refreshes of one reader with changed rights. A later transaction applies each entry
/// and updates the rows to the state at that time. Applying an entry twice changes nothing more.
struct MirrorOutbox {
    private let transaction: any WriteTransaction

    /// Entries of each kind that one step applies while nothing else waits for it.
    private static let stepMax = 100

    init(_ transaction: any WriteTransaction) { self.transaction = transaction }

    /// Applies all entries.
    func applyAll() throws(StorageFailure) {
        while try self.apply(max: Self.stepMax) {}
    }

    /// Applies at most `max` entries of each kind: refreshes in the order of readers, and then
    /// news.
    ///
    /// - Returns: Whether there may be more.
    func apply(max: Int) throws(StorageFailure) -> Bool {
        let refreshes = try self.transaction.rows(RowRange(ViewRefreshRow.byKey), limit: max)
        try self.apply(refreshes)
        let news = try self.transaction.rows(RowRange(ShareNewsRow.byKey), limit: max)
        try self.apply(news)
        return refreshes.count == max || news.count == max
    }

    /// Whether entries wait, of whichever kind.
    static func hasEntries(in rows: any TableReader) throws(StorageFailure) -> Bool {
        if try rows.count(RowRange(ViewRefreshRow.byKey), limit: 1) > 0 { return true }
        return try rows.count(RowRange(ShareNewsRow.byKey), limit: 1) > 0
    }

    /// Whether there are refreshes of a user's shared database.
    func hasRefreshes(of reader: DatabaseID) throws(StorageFailure) -> Bool {
        try self.transaction.count(RowRange(ViewRefreshRow.byKey, reader), limit: 1) > 0
    }

    /// Applies the refreshes of a user's shared database.
    func applyRefreshes(of reader: DatabaseID) throws(StorageFailure) {
        try self.apply(try self.transaction.rows(RowRange(ViewRefreshRow.byKey, reader)))
    }

    private func apply(_ refreshes: [ViewRefreshRow]) throws(StorageFailure) {
        for entry in refreshes {
            try self.change(as: entry.origin) { () throws(StorageFailure) in
                try self.update(entry.zoneKey, of: [Reader(database: entry.reader, mayRead: false)])
            }
            try self.transaction.delete(entry)
        }
    }

    private func apply(_ news: [ShareNewsRow]) throws(StorageFailure) {
        let shares = try self.transaction.rows(ShareRow.byKey, keys: news.map(\.share))
        for (entry, share) in zip(news, shares) {
            if let share {
                let rows = try self.transaction.rows(RowRange(ShareReaderRow.byShare, entry.share))
                try self.change(as: entry.origin) { () throws(StorageFailure) in
                    try self.update(share.zoneKey, of: rows.map { Reader($0) })
                }
            }
            try self.transaction.delete(entry)
            self.transaction.knowledge.sharesWithChanges[entry.share] = nil
        }
    }

    /// Makes changes that follow from a change of a connection, which is not notified of them.
    private func change(
        as origin: [UInt8]?,
        _ body: () throws(StorageFailure) -> Void
    ) throws(StorageFailure) {
        let before = self.transaction.origin
        self.transaction.origin = origin.flatMap { ChangeOrigin($0) }
        defer { self.transaction.origin = before }
        try body()
    }

    // MARK: Rows of zones

    fileprivate struct Reader {
        let database: DatabaseID
        /// Whether the reader is known to have a right to some record of the zone.
        let mayRead: Bool
    }

    /// Updates the rows of readers after a change in the zone, or in their rights there.
    private func update(_ zone: ZoneKey, of readers: [Reader]) throws(StorageFailure) {
        let keys = readers.map { ZoneRow.byTarget.key($0.database, zone.database, zone.number) }
        let views = try self.transaction.rows(ZoneRow.byTarget, keys: keys)
        for (reader, view) in zip(readers, views) {
            let database = reader.database
            let isShown =
                if reader.mayRead { true } else {
                    try !self.transaction.sharedAccess(to: zone, of: database).isEmpty
                }
            guard let view else {
                if isShown { try self.insert(zone, of: database) }
                continue
            }
            let position = try self.transaction.takePosition(in: database)
            guard isShown else {
                try self.transaction.removeZone(view.key, named: view.name, at: position)
                continue
            }
            self.transaction.advance(view.key, to: position)
            self.transaction.note(.zoneChanged(view.name), at: position, in: database)
        }
    }

    private func insert(_ zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) {
        guard let owner = try self.transaction.owner(of: zone) else { return }
        let name = SharedZoneName.text(
            of: ZoneID(zoneName: owner.zoneName, ownerName: owner.userRecordName)
        )
        let position = try self.transaction.takePosition(in: reader)
        var view = ZoneRow(database: reader, name: name, number: position)
        view.position = position
        view.targetDatabase = zone.database
        view.targetZone = zone.number
        try self.transaction.put(view)
        self.transaction.count(rowBytes: RowBytes.zone(named: name), in: reader)
        self.transaction.note(.zoneCreated(name), at: position, in: reader)
    }
}

extension MirrorOutbox.Reader {
    fileprivate init(_ row: ShareReaderRow) {
        self.init(database: row.reader, mayRead: row.permission.mayRead)
    }
}

extension WriteTransaction {
    /// Notes that there is something new for the readers of a share.
    func noteChange(of share: ShareNumber) throws(StorageFailure) {
        let origin = self.origin
        // If several made the news, one more changes nothing.
        if let noted = self.knowledge.sharesWithChanges[share], noted == nil || noted == origin { return }
        let known = try self.row(ShareNewsRow.byKey, share)
        let isOthersToo = known.map { $0.origin != origin?.bytes } ?? false
        let row = ShareNewsRow(share: share, origin: isOthersToo ? nil : origin)
        if known.map({ $0.origin != row.origin }) ?? true { try self.put(row) }
        self.knowledge.sharesWithChanges.updateValue(isOthersToo ? nil : origin, forKey: share)
    }
}

/// When shared databases are brought up to date, and by how much.
///
/// A change of a zone with many readers costs a row of each of them. So a change waits for those
/// that follow soon; the first after a pause waits for nothing.
struct ViewPace: Sendable {
    /// Entries of each kind in one transaction.
    private static let entriesMax = 20
    /// The time for which entries wait for more.
    private static let everyMilliseconds: Int64 = 20

    private var lastMilliseconds: Int64 = 0
    /// Whether the last step may have left entries.
    private var isBehind = false

    /// The time to wait before a step if no other work is due: 0 to 20 milliseconds.
    ///
    /// Entries that the last step left wait for nothing.
    func milliseconds(untilStepFrom now: Int64) -> Int64 {
        self.isBehind ? 0 : self.millisecondsLeft(from: now)
    }

    private func millisecondsLeft(from now: Int64) -> Int64 {
        let passed = now - self.lastMilliseconds
        // A clock may be set back.
        return (0..<Self.everyMilliseconds).contains(passed) ? Self.everyMilliseconds - passed : 0
    }

    /// Applies some entries if it is time, or if nothing else is to be done.
    ///
    /// - Returns: Whether there may be more; `true` if it is not time.
    mutating func step(
        isAlone: Bool,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Bool {
        let now = transaction.nowMilliseconds
        guard isAlone || self.millisecondsLeft(from: now) == 0 else { return true }
        self.lastMilliseconds = now
        self.isBehind = true
        self.isBehind = try MirrorOutbox(transaction).apply(max: Self.entriesMax)
        return self.isBehind
    }
}
