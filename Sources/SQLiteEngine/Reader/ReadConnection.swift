import GRDB
import GRDBSQLite
import RecordModel
import StorageContract

/// A connection that reads, with its statements.
///
/// It is a snapshot while `snapshot(_:)` runs: SQL, without its meaning. An unfinished statement
/// holds the snapshot. The snapshot reads SQLite's data version, which changes with every commit of
/// any process; while it is unchanged, cached zones are valid.
///
/// SAFETY: used by one thread at a time: the pool hands it out to one borrower, a read thread keeps
/// its own.
final class ReadConnection: RowReader, RowNames, LocalSnapshot, @unchecked Sendable {
    private let queue: DatabaseQueue
    private let connection: OpaquePointer
    private let copies: LogCopies
    /// The checkpoint count at the connection's last mapping.
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
    /// The data version of the last snapshot, for which cached zones are valid.
    private var versionKnown: Int64?
    private var zoneKeys = ZoneKeys()
    private static let zoneKeysMax = 1_024
    private let typeNames = NameMemory()
    private let authorNames = NameMemory()

    init(file: DatabaseFile) throws {
        let queue = try file.openReader()
        // SAFETY: the queue keeps the connection open as long as it lives, and has no other user.
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
        // Resetting the last statement ends the snapshot.
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

    /// System fields of the record in the statement's row; the names are lent until the snapshot
    /// ends.
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

    /// The record name of a user; empty for 0, which means no user.
    func authorName(_ number: Int64) throws(StorageFailure) -> String {
        guard number != 0 else { return "" }
        return try self.name(of: number, self.authorNames, self.authorName).text
    }

    /// The name of a record type in UTF-8.
    // SAFETY: lent until the snapshot ends.
    func lentTypeName(_ number: Int64) throws(StorageFailure) -> UnsafeRawBufferPointer {
        if let name = self.typeNames.lastUTF8(of: number) { return name }
        return try self.name(of: number, self.typeNames, self.typeName).utf8
    }

    // SAFETY: as above.
    private func lentAuthorName(_ number: Int64) throws(StorageFailure) -> UnsafeRawBufferPointer {
        if let name = self.authorNames.lastUTF8(of: number) { return name }
        // SAFETY: an empty buffer is never read.
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
