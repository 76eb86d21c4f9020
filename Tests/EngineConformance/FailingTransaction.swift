import RecordModel
import StorageContract

/// A transaction in which one primitive fails, once so many have succeeded.
final class FailingTransaction: WriteTransaction {
    private let transaction: any WriteTransaction
    let failure: StorageFailure
    private var primitivesLeft: Int

    init(_ transaction: any WriteTransaction, _ failure: StorageFailure, behind primitives: Int) {
        self.transaction = transaction
        self.failure = failure
        self.primitivesLeft = primitives
    }

    private func pass() throws(StorageFailure) {
        guard self.primitivesLeft > 0 else { throw self.failure }
        self.primitivesLeft -= 1
    }

    // MARK: WriteTransaction

    var nowMilliseconds: Int64 { self.transaction.nowMilliseconds }

    var positionsTaken: Int { self.transaction.positionsTaken }

    func takePosition(in database: DatabaseID) throws(StorageFailure) -> Int64 {
        try self.pass()
        return try self.transaction.takePosition(in: database)
    }

    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        try self.pass()
        return try self.transaction.zone(named: name, in: database)
    }

    func insertZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey {
        try self.pass()
        return try self.transaction.insertZone(named: name, in: database, at: position)
    }

    func deleteZone(_ zone: ZoneKey, named name: String) throws(StorageFailure) -> StoredAmount {
        try self.pass()
        return try self.transaction.deleteZone(zone, named: name)
    }

    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.pass()
        return try self.transaction.record(named: name, in: zone)
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.pass()
        return try self.transaction.records(named: names, in: zone, bytesMax: bytesMax)
    }

    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [Int64] {
        try self.pass()
        return try self.transaction.apply(writes, to: zone, in: environment)
    }

    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]] {
        try self.pass()
        return try self.transaction.referrers(of: targets, in: zone, behind: name, limit: limit)
    }

    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int] {
        try self.pass()
        return try self.transaction.countsOfDeleteSelfReferrers(of: targets, in: zone, limit: limit)
    }

    // MARK: What rules know and say

    var origin: ChangeOrigin? {
        get { self.transaction.origin }
        set { self.transaction.origin = newValue }
    }

    var memory: RuleMemory { self.transaction.memory }

    func advance(_ zone: ZoneKey, to position: Int64) { self.transaction.advance(zone, to: position) }

    // MARK: UsageTransaction

    func count(_ growth: StoredAmount, in database: DatabaseID) {
        self.transaction.count(growth, in: database)
    }

    func count(rowBytes: Int, in zone: ZoneKey) { self.transaction.count(rowBytes: rowBytes, in: zone) }

    func bytesStored(under quota: Quota, with database: DatabaseID) throws(StorageFailure) -> Int64? {
        try self.pass()
        return try self.transaction.bytesStored(under: quota, with: database)
    }

    // MARK: ChangeTransaction

    func position(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        try self.pass()
        return try self.transaction.position(of: database)
    }

    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 {
        try self.pass()
        return try self.transaction.lastChange(inZonesOf: database, exceptNamed: name)
    }

    func isWatched(_ database: DatabaseID) -> Bool { self.transaction.isWatched(database) }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.transaction.note(kind, at: position, in: database)
    }

    // MARK: Tables

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        try self.pass()
        return try self.transaction.rows(of: table, by: index, keys: keys)
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        try self.pass()
        return try self.transaction.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.pass()
        return try self.transaction.count(of: table, in: range, limit: limit)
    }

    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        try self.pass()
        return try self.transaction.put(rows, in: table)
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        try self.pass()
        try self.transaction.delete(keys: keys, from: table)
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.pass()
        return try self.transaction.delete(from: table, in: range, limit: limit)
    }

    // MARK: IndexWriter

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        try self.pass()
        return try self.transaction.types(named: names, in: environment)
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.pass()
        return try self.transaction.hasEntries(ofIndex: index, in: environment)
    }

    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 {
        try self.pass()
        return try self.transaction.takeIndexNumbers(count)
    }
}
