import RecordModel

/// One state of the whole store, to be read: everything that was committed when it began, and nothing
/// of what is committed later.
///
/// A snapshot has rows and order, and no rules. It does not know who asks, which records they may
/// see, or the maximum cost of a response; the executions in `Reading/`, `Changes/` and `Queries/`
/// decide that. A key carries its database and its zone, so an engine may store each database
/// separately.
///
/// - Isolation: Everything comes from the same state, however many calls are made.
/// - Threads: Calls come from one thread at a time, and none after the read that the snapshot was for.
/// - Order: Names are ordered by their UTF-8 bytes, values by their bytes, positions and numbers as
///   integers.
/// - Absent: `nil`, or an empty array; nothing that is absent is a failure.
/// - Throws: `StorageFailure` if the rows cannot be read. An error of a visitor passes through.
package protocol Snapshot: RecordReader {
    // MARK: Zones

    /// Lists zones with their last change behind a position, in the order of their last changes; at
    /// most `limit`.
    func zones(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZone]
    /// Lists zones that were deleted behind a position, each at its last deletion, ascending; at most
    /// `limit`.
    func zoneDeletions(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZoneDeletion]

    // MARK: Records

    /// The records of a zone with these numbers, which are read when they are asked for.
    func records(numbered numbers: [Int64], in zone: ZoneKey) -> any RecordList
    /// Finds the positions of one record by name, without its contents.
    func positions(ofRecordNamed name: String, in zone: ZoneKey) throws(StorageFailure) -> RecordPositions?
    /// Visits the records of a zone in the order of their creation, or in the opposite one, beyond a
    /// record number, until a visit returns false.
    ///
    /// Other reads may be made during a visit, but no other visit.
    func visitRecords(
        of zone: ZoneKey,
        beyond number: Int64?,
        isDescending: Bool,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure)
    /// Visits records of a zone by name, in the order of the names, until a visit returns false.
    ///
    /// A visit gets the offset of its name; a record that is absent has no visit. Other reads may be
    /// made during a visit, but no other visit. An engine may leave this to `records`, which makes a
    /// copy of each record.
    func visitRecords(
        named names: [String],
        in zone: ZoneKey,
        _ visit: (Int, borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure)

    // MARK: Changes

    /// Lists changes of records behind a position, ascending, about `limit` of them, with the records;
    /// none if there are no more.
    ///
    /// Stale ones, of records that have changed again or are gone, may be among them.
    func changes(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> Listed<FeedChange>
    /// Lists deletions of records that are still absent, behind a position, ascending; at most `limit`.
    func deletions(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [FeedDeletion]

    // MARK: Indexes

    /// Lists entries in the order of value and record number, or in the opposite one.
    func entries(_ scan: EntryScan) throws(StorageFailure) -> Listed<EntryPosition>
    /// Lists the numbers of the zone's records that have exactly this value, ascending.
    func numbers(_ scan: NumberScan) throws(StorageFailure) -> Listed<Int64>
    /// Counts the entries that an ascending scan would give, its offset aside, up to its limit.
    func countOfEntries(_ scan: EntryScan) throws(StorageFailure) -> Int

    // MARK: Checks

    /// Lists rows of a zone as they are stored, of one of `ContentTables` but the order of changes, in
    /// the order of the key; at most `limit`.
    ///
    /// `key` has the values behind database and zone after which the list begins. It is empty for the first
    /// rows.
    func contents(
        _ table: Table,
        of zone: ZoneKey,
        after key: [ColumnValue],
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]]
    /// Says which rows of `ContentTables.change`, `reference` or `entry` are stored: one element a row,
    /// in order.
    func areStored(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Bool]
}

extension Snapshot {
    /// Reads one record by key; `nil` also if the record with that number is in another zone.
    package func record(_ key: RecordKey) throws(StorageFailure) -> NamedRecord? {
        try self.records(numbered: [key.number], in: key.zone).record(at: 0)
    }

    package func visitRecords(
        named names: [String],
        in zone: ZoneKey,
        _ visit: (Int, borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) {
        // The bytes held at a time; a record may exceed them once.
        let pieceBytes = 1_024 * 1_024
        var rest = names[...]
        while !rest.isEmpty {
            let piece = try FeedFailure.wrapping { () throws(StorageFailure) in
                try self.records(named: rest, in: zone, bytesMax: pieceBytes)
            }
            for (offset, stored) in zip(rest.indices, piece) {
                guard let stored else { continue }
                let goesOn = try stored.visited(named: names[offset]) { (row) throws(FeedFailure) in
                    try visit(offset, row)
                }
                guard goesOn else { return }
            }
            rest = rest.dropFirst(piece.count)
        }
    }
}
