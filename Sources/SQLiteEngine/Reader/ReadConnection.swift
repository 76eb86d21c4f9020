import GRDB
import GRDBSQLite
import RecordModel
import RecordStore

/// A connection that reads, with its statements.
///
/// It is a snapshot while `snapshot(_:)` runs: SQL, and nothing of what it means. A statement that has
/// not come to its end holds the snapshot. It reads the version of the data, which is another one after
/// any commit, also of another process; until then the zones that were found are still there.
///
/// SAFETY: one thread at a time has it: the pool hands it out to one borrower, a read thread keeps its own.
final class ReadConnection: RowReader, RowNames, Snapshot, @unchecked Sendable {
    private let queue: DatabaseQueue
    private let connection: OpaquePointer
    private let copies: LogCopies
    /// The copies of the log that the connection has heard of.
    private var copiesKnown: Int
    private let dataVersion, zoneByName, recordByName, typeName, authorName: HotStatement
    /// The statements of feeds.
    let feedStatements: FeedStatements
    /// Reads the entries of indexes.
    let entryReader: EntryReader
    let knownTypes: KnownTypes
    let tables: TableStatements
    let indexes: IndexSearch
    /// Finds records by number for feeds.
    let recordCursor: RecordCursor
    /// The version of the data in the last snapshot, for which the zones stand.
    private var versionKnown: Int64?
    private var zoneKeys = ZoneKeys()
    private static let zoneKeysMax = 1_024
    private let typeNames = NameMemory()
    private let authorNames = NameMemory()

    init(file: DatabaseFile) throws {
        let queue = try file.openReader()
        // SAFETY: the queue keeps the connection open as long as it lives, and nobody else uses the queue.
        nonisolated(unsafe) let connection = queue.inDatabase { $0.sqliteConnection! }
        self.queue = queue
        self.connection = connection
        self.copies = file.copies
        self.copiesKnown = file.copies.number
        self.dataVersion = try HotStatement("PRAGMA data_version", on: connection)
        self.zoneByName = try HotStatement(ZoneQueries.find, on: connection)
        self.recordByName = try HotStatement(RecordColumns.select, on: connection)
        self.entryReader = try EntryReader(connection)
        self.knownTypes = try KnownTypes(connection: connection)
        self.tables = TableStatements(connection: connection)
        self.indexes = try IndexSearch(connection)
        self.feedStatements = try FeedStatements(connection)
        self.recordCursor = RecordCursor(self.feedStatements.fromNumber)
        self.typeName = try HotStatement(NameQueries.recordType, on: connection)
        self.authorName = try HotStatement(NameQueries.author, on: connection)
    }

    /// Executes a job in one snapshot.
    func snapshot(
        _ read: () throws(StorageFailure) -> ReadJob.Reply?
    ) throws(StorageFailure) -> ReadJob.Reply? {
        self.typeNames.forgetIfMany()
        self.authorNames.forgetIfMany()
        let copies = self.copies.number
        if copies != self.copiesKnown {
            self.copiesKnown = copies
            DatabaseFile.mapAnew(self.connection)
        }
        guard try self.dataVersion.step() else { throw .unexpected(code: 0) }
        // The last statement that ends, ends the snapshot.
        defer { self.dataVersion.reset() }
        let version = self.dataVersion.integer(0)
        if version != self.versionKnown || self.zoneKeys.count >= Self.zoneKeysMax {
            self.versionKnown = version
            self.zoneKeys.removeAll()
        }
        defer { self.recordCursor.finish() }
        return try read()
    }

    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        if let key = self.zoneKeys[name, database] { return key }
        guard let key = try self.zoneByName.zone(named: name, in: database) else { return nil }
        self.zoneKeys[name, database] = key
        return key
    }

    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.recordByName.record(named: name, in: zone, self)
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.recordByName.records(named: names, in: zone, bytesMax: bytesMax, self)
    }

    /// System fields of the record in the row that a statement is at, with names that are lent until
    /// the snapshot ends.
    func lentSystemFields(_ statement: HotStatement) throws(StorageFailure) -> LentSystemFields {
        let creator = statement.integer(RecordColumns.creator)
        let modifier = statement.integer(RecordColumns.modifier)
        let createdBy = try self.lentAuthorName(creator)
        return LentSystemFields(
            createdMilliseconds: statement.integer(RecordColumns.created),
            modifiedMilliseconds: statement.integer(RecordColumns.modified),
            createdBy: createdBy,
            modifiedBy: modifier == creator ? createdBy : try self.lentAuthorName(modifier)
        )
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        try self.knownTypes.types(named: names, in: environment, from: self)
    }

    // MARK: Names

    /// The name of a record type.
    func typeName(_ number: Int64) throws(StorageFailure) -> String {
        try self.name(of: number, self.typeNames, self.typeName).text
    }

    /// The record name of a user; empty for 0, which is nobody.
    func authorName(_ number: Int64) throws(StorageFailure) -> String {
        guard number != 0 else { return "" }
        return try self.name(of: number, self.authorNames, self.authorName).text
    }

    /// The same in UTF-8.
    // SAFETY: lent until the snapshot ends.
    func lentTypeName(_ number: Int64) throws(StorageFailure) -> UnsafeRawBufferPointer {
        if let name = self.typeNames.lastUTF8(of: number) { return name }
        return try self.name(of: number, self.typeNames, self.typeName).utf8
    }

    // SAFETY: as above.
    private func lentAuthorName(_ number: Int64) throws(StorageFailure) -> UnsafeRawBufferPointer {
        if let name = self.authorNames.lastUTF8(of: number) { return name }
        // SAFETY: nothing is there to be read.
        guard number != 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return try self.name(of: number, self.authorNames, self.authorName).utf8
    }

    private func name(
        of number: Int64,
        _ memory: NameMemory,
        _ statement: HotStatement
    ) throws(StorageFailure) -> NameMemory.Name {
        if let name = memory.name(of: number) { return name }
        statement.bind(1, number)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return memory.keep(statement.text(0), of: number)
    }
}
