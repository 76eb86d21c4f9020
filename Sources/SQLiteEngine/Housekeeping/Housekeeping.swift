import GRDB
import RecordStore

/// Work that may be done at any time and is done in pieces, within transactions of the writer.
final class Housekeeping {
    private let transaction: WriterTransaction
    private let database: Database
    private let indexBuilder: IndexBuilder
    let staleChanges: StaleChanges
    let oldTombstones: OldTombstones
    let oldRequests: OldRequests
    private var newsSpreadMilliseconds: Int64 = 0

    /// Rows that one transaction sweeps.
    private static let sweepRowsMax = 200
    /// Entries are small, and there are several for each record.
    private static let sweepEntriesMax = 1_000
    /// Records that are indexed while requests wait, and while nobody does.
    private static let indexedRecordsMax = 100
    private static let indexedRecordsAloneMax = 1_000

    init(
        transaction: WriterTransaction,
        database: Database,
        tombstoneRetentionSeconds: Int
    ) throws(StorageFailure) {
        self.transaction = transaction
        self.database = database
        self.indexBuilder = try IndexBuilder(transaction: transaction, database: database)
        self.staleChanges = StaleChanges(transaction: transaction)
        self.oldTombstones = OldTombstones(
            transaction: transaction,
            database: database,
            retentionSeconds: tombstoneRetentionSeconds
        )
        self.oldRequests = OldRequests(transaction: transaction, database: database)
    }

    /// Whether there may be something to do while nobody waits, or of that what makes room.
    func isWanted(nowMilliseconds now: Int64, onFullDisk: Bool) -> Bool {
        let mayTakeRoom = self.transaction.mayHaveIndexWork || self.transaction.mayHaveViewWork
        return self.transaction.mayHaveSweepWork || (mayTakeRoom && !onFullDisk)
            || self.staleChanges.isWorthwhile
            || self.oldTombstones.isWanted(nowMilliseconds: now)
            || self.oldRequests.isWanted(nowMilliseconds: now)
    }

    /// Cursors of listeners that one transaction writes, beside requests and alone.
    private static let cursorsMax = 1_000
    private static let cursorsAloneMax = 5_000

    /// Writes down some of what listeners have acknowledged.
    func writeCursors(isAlone: Bool) throws(StorageFailure) {
        let now = self.transaction.nowMilliseconds
        guard isAlone || self.transaction.watch.cursors.isDue(nowMilliseconds: now) else { return }
        try self.transaction.writeCursors(max: isAlone ? Self.cursorsAloneMax : Self.cursorsMax)
    }

    /// Whether there is something to do when nobody has asked for anything for a second.
    func isWantedAfterWaiting(nowMilliseconds now: Int64) throws(StorageFailure) -> Bool {
        try self.transaction.othersHaveWritten() || !self.transaction.watch.cursors.isEmpty
            || self.oldTombstones.isWanted(nowMilliseconds: now)
            || self.oldRequests.isWanted(nowMilliseconds: now)
    }

    /// Shares of which readers are told in one transaction, and how long others may wait for it while requests come.
    private static let newsMax = 20
    private static let newsEveryMilliseconds: Int64 = 20

    /// Tells shared databases what is new.
    func spreadNews(isAlone: Bool) throws(StorageFailure) {
        let now = self.transaction.nowMilliseconds
        guard self.transaction.mayHaveViewWork,
            isAlone || now - self.newsSpreadMilliseconds >= Self.newsEveryMilliseconds
        else { return }
        self.newsSpreadMilliseconds = now
        _ = try self.transaction.spreadNews(max: Self.newsMax)
    }

    /// What to tell an operator, after a commit.
    func takeEvents() -> [EngineEvent] { self.indexBuilder.takeEvents() }

    /// Fills new indexes and empties dropped ones, a piece of each.
    func workOnIndexes(isAlone: Bool) throws(StorageFailure) {
        try self.indexBuilder.work(
            recordsMax: isAlone ? Self.indexedRecordsAloneMax : Self.indexedRecordsMax
        )
    }

    /// Removes some of what deleted zones left.
    func sweep() throws(StorageFailure) {
        guard self.transaction.mayHaveSweepWork else { return }
        do {
            if try self.removeCovers() { return }
            let next = "SELECT database, zone, byte_count FROM sweep LIMIT 1"
            guard let zone = try Row.fetchOne(self.database, sql: next) else {
                self.transaction.mayHaveSweepWork = false
                return
            }
            let key: StatementArguments = [zone[0] as Int64, zone[1] as Int64]
            let zoneKey = ZoneKey(database: DatabaseID(rawValue: zone[0]), number: zone[1])
            if try self.transaction.removeUses(inZone: zoneKey, max: Self.sweepRowsMax) > 0 { return }
            // Entries after the records, or the builder of an index might add some that nobody sweeps.
            for (table, columns, rowsMax) in [
                ("record", "name", Self.sweepRowsMax), ("tombstone", "name", Self.sweepRowsMax),
                ("hold", "target, holder", Self.sweepRowsMax), ("change", "position", Self.sweepRowsMax),
                ("entry", "field, value, record", Self.sweepEntriesMax),
                ("cover_change", "position", Self.sweepRowsMax), ("share_token", "token", Self.sweepRowsMax),
                ("share_expiry", "reader", Self.sweepRowsMax),
            ] {
                try self.database.execute(
                    sql: """
                        DELETE FROM \(table) WHERE database = ?1 AND zone = ?2 AND (\(columns)) IN
                        (SELECT \(columns) FROM \(table) WHERE database = ?1 AND zone = ?2
                        LIMIT \(rowsMax))
                        """,
                    arguments: key
                )
                if self.database.changesCount > 0 { return }
            }
            try self.database.execute(
                sql: "DELETE FROM sweep WHERE database = ? AND zone = ?",
                arguments: key
            )
            self.transaction.changes.count(rowBytes: -(zone[2] as Int), in: zoneKey.database)
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Removes some covers by shares that are gone; false: there are none.
    private func removeCovers() throws -> Bool {
        let share = try Int64.fetchOne(self.database, sql: "SELECT share FROM share_removal LIMIT 1")
        guard let share else { return false }
        try self.database.execute(
            sql: """
                DELETE FROM cover WHERE record IN
                (SELECT record FROM cover WHERE share = ? LIMIT \(Self.sweepEntriesMax))
                """,
            arguments: [share]
        )
        if self.database.changesCount == 0 {
            try self.database.execute(sql: "DELETE FROM share_removal WHERE share = ?", arguments: [share])
        }
        return true
    }
}
