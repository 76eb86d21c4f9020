/// An engine's knowledge of the work that housekeeping has left, without a look at the store.
package protocol HousekeepingKnowledge: AnyObject {
    /// Whether there may be work of a kind: it may if the engine does not know.
    func mayHave(_ kind: HousekeepingKind) -> Bool

    /// Stale changes that wait to be taken out of the order of changes: their records changed again
    /// or are gone.
    var staleChanges: StaleChanges { get }
}

/// Primitives of housekeeping beside those of a write: rows that no declared table has, a bounded
/// number of them at a time.
///
/// A removal takes at most `limit` rows; fewer than the limit means that no more are left. The
/// rules count the removed rows.
package protocol HousekeepingTransaction: HousekeepingKnowledge {
    /// The transaction in which all of it happens.
    var transaction: any WriteTransaction { get }

    /// Notes that nothing is left of a kind of work once the transaction is committed.
    func finished(_ kind: HousekeepingKind)

    /// Removes rows of one kind that a deleted zone has left.
    func remove(_ rows: UndeclaredRows, of zone: ZoneKey, limit: Int) throws(StorageFailure) -> Int

    /// The first zone behind another that has tombstones of records; `nil` behind which: all.
    ///
    /// The zone may be a deleted one.
    func zoneWithTombstones(after zone: ZoneKey?) throws(StorageFailure) -> ZoneKey?
    /// Removes tombstones of records in the order of their positions, up to the first of a deletion
    /// that is not before a time.
    func removeTombstones(
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> RemovedRows

    /// Reads records of some types, by their numbers, of all zones that are there: in the order of
    /// the records' numbers from one on, below another.
    func indexedRecords(
        ofTypes types: Set<Int64>,
        from number: Int64,
        below end: Int64?,
        bounds: IndexedRecords.Bounds
    ) throws(StorageFailure) -> IndexedRecords
    /// Adds entries of records and counts them; some of the entries may exist already.
    func add(_ entries: [RecordEntries]) throws(StorageFailure)
    /// Removes entries of an index in one zone.
    func removeEntries(
        ofIndex index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> RemovedRows

    /// Removes some stale changes: continues the round that was begun, or begins one with about
    /// `roundMax` changes.
    ///
    /// `readsMax` bounds the pieces of the order that are read. An engine that keeps no stale
    /// changes removes none.
    func removeStaleChanges(roundMax: Int, readsMax: Int) throws(StorageFailure)
}

/// Kinds of work that an engine can report as finished.
package enum HousekeepingKind: CaseIterable, Hashable, Sendable {
    /// Shared databases that have to follow a change: rows of `ViewRefreshRow`, `ShareNewsRow`.
    case views
    /// Remains of deleted zones and shares, and of histories that gave way: rows of `SweepRow`,
    /// `ShareRemovalRow`, `PastRemovalRow`.
    case sweep
    /// Indexes to fill or to empty: rows of `IndexBuildRow`, `IndexRemovalRow`.
    case indexes

    /// The tables with a row for each piece of work.
    package var tables: [Table] {
        switch self {
        case .views: [ViewRefreshRow.table, ShareNewsRow.table]
        case .sweep: [SweepRow.table, ShareRemovalRow.table, PastRemovalRow.table]
        case .indexes: [IndexBuildRow.table, IndexRemovalRow.table]
        }
    }
}

/// Rows of a zone that no declared table has: an engine keeps them as it likes.
package enum UndeclaredRows: CaseIterable, Hashable, Sendable {
    case records
    case tombstones
    case references
    case changes
    case entries
}

/// The result of a removal.
package struct RemovedRows: Hashable, Sendable {
    package var count = 0
    /// The bytes that the rows counted for (`RowBytes`).
    package var bytes = 0
    /// The position of the last one, if they have positions.
    package var lastPosition: Int64 = 0

    package init(count: Int = 0, bytes: Int = 0, lastPosition: Int64 = 0) {
        self.count = count
        self.bytes = bytes
        self.lastPosition = lastPosition
    }
}

/// The entries that an index gets for an existing record.
package struct RecordEntries: Hashable, Sendable {
    package var key: RecordKey
    package var entries: [IndexEntry]

    package init(key: RecordKey, entries: [IndexEntry]) {
        self.key = key
        self.entries = entries
    }
}

/// Records for which indexes are built, and where to go on.
package struct IndexedRecords: Sendable {
    package struct Element: Sendable {
        package var key: RecordKey
        /// The number of its type.
        package var type: Int64
        package var name: String
        package var record: StoredRecord

        package init(key: RecordKey, type: Int64, name: String, record: StoredRecord) {
            self.key = key
            self.type = type
            self.name = name
            self.record = record
        }
    }

    /// The most that one call may take: it ends with the record that reaches one of the bounds.
    package struct Bounds: Hashable, Sendable {
        package var records: Int
        /// Bytes of encoded bodies.
        package var bytes: Int
        /// Records of other types, and of zones that are gone, which are passed over.
        package var others: Int

        package init(records: Int, bytes: Int, others: Int) {
            self.records = records
            self.bytes = bytes
            self.others = others
        }
    }

    package var records: [Element] = []
    /// The number from which the next call reads; `nil` if there are no more records.
    package var next: Int64?

    package init() {}
}

/// The number of stale changes that wait to be removed from the order of changes.
package struct StaleChanges: Hashable, Sendable {
    /// Changes that became stale since the last round began, as far as the engine counted them.
    package var waiting: Int
    /// Whether there may be more, because the engine did not count from the beginning.
    package var mayBeMore: Bool
    /// Whether a round has begun and is not at its end.
    package var isInRound: Bool

    package init(waiting: Int = 0, mayBeMore: Bool = false, isInRound: Bool = false) {
        self.waiting = waiting
        self.mayBeMore = mayBeMore
        self.isInRound = isInRound
    }
}
