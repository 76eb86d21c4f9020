import GRDB
import RecordModel
import RecordStore

/// Fills new indexes and empties dropped ones, in pieces, within transactions of the writer.
///
/// Every save keeps an index from the moment that it has a number, so only earlier records are
/// left. They are read in the order of their numbers, and how far that got is on disk. All indexes
/// that are as far as one another are filled by one pass.
final class IndexBuilder {
    private let transaction: WriterTransaction
    private let database: Database
    private let records: HotStatement
    /// What to tell an operator once the transaction is on disk.
    private var events: [EngineEvent] = []
    /// Indexes of the pass, and records that were read for it since the start of the process.
    ///
    /// It is `nil` if there is no pass.
    private var pass: (indexes: Int, records: Int)?

    /// Foreign records, for each one that is indexed, that a piece may pass over.
    private static let foreignFactor = 10
    private static let bodyBytesMax = 1024 * 1024
    private static let removedEntriesMax = 1_000
    /// Zones that are looked at for entries of a dropped index.
    private static let removalZonesMax = 100

    init(transaction: WriterTransaction, database: Database) throws(StorageFailure) {
        guard let connection = database.sqliteConnection else { throw .unexpected(code: 0) }
        self.transaction = transaction
        self.database = database
        self.records = try HotStatement(
            """
            SELECT \(RecordColumns.names), database, zone, name, EXISTS (
                SELECT 1 FROM zone WHERE zone.database = record.database AND zone.number = record.zone)
            FROM record WHERE record.number >= ? AND record.number < ? ORDER BY record.number
            """,
            on: connection
        )
    }

    /// Hands out what happened since the last call.
    func takeEvents() -> [EngineEvent] {
        defer { self.events = [] }
        return self.events
    }

    /// Indexes about as many records as `recordsMax` says, then removes some entries of dropped indexes.
    func work(recordsMax: Int) throws(StorageFailure) {
        guard self.transaction.work.mayBeIndexes else { return }
        do {
            let isBuilt = try self.build(recordsMax: recordsMax)
            let isRemoved = try self.removeEntries()
            if isBuilt, isRemoved { self.transaction.work.mayBeIndexes = false }
        } catch {
            throw StorageFailure(error)
        }
    }

    // MARK: Building

    private struct Build {
        let indexes: Set<Int64>
        /// Records below it are done.
        let next: Int64
        /// Where the indexes that are farther stand.
        let end: Int64?
    }

    /// Returns whether nothing is left to build.
    private func build(recordsMax: Int) throws -> Bool {
        guard let build = try self.leastBuild() else {
            if let pass = self.pass {
                self.events.append(.indexesBuilt(indexes: pass.indexes, records: pass.records))
            }
            self.pass = nil
            return true
        }
        let types = try self.definitions(of: build.indexes)
        let next = types.isEmpty ? nil : try self.fill(build, types, recordsMax: recordsMax)
        if let next = next ?? build.end {
            try self.database.execute(
                sql: "UPDATE index_build SET next_record = ? WHERE next_record = ?",
                arguments: [next, build.next]
            )
        } else {
            try self.database.execute(
                sql: "DELETE FROM index_build WHERE next_record = ?",
                arguments: [build.next]
            )
            self.transaction.names.forgetTypes()
        }
        return false
    }

    /// The indexes that are least far.
    private func leastBuild() throws -> Build? {
        let rows = try Row.fetchAll(
            self.database,
            sql: "SELECT index_number, next_record FROM index_build ORDER BY next_record"
        )
        guard let next = rows.first?[1] as Int64? else { return nil }
        var pass = self.pass ?? (indexes: 0, records: 0)
        if self.pass == nil { self.events.append(.indexesIncomplete(indexes: rows.count)) }
        pass.indexes = max(pass.indexes, rows.count)
        self.pass = pass
        return Build(
            indexes: Set(rows.prefix { $0[1] == next }.map { $0[0] as Int64 }),
            next: next,
            end: rows.first { $0[1] != next }?[1]
        )
    }

    /// By the number of each type that has one of the indexes: its fields, with these indexes and no others.
    private func definitions(of indexes: Set<Int64>) throws -> [Int64: FieldDefinitions] {
        let list = indexes.map { String($0) }.joined(separator: ", ")
        let types = try Row.fetchAll(
            self.database,
            sql: """
                SELECT number, environment, name FROM record_type WHERE number IN
                (SELECT record_type FROM field WHERE index_number IN (\(list)))
                """
        )
        var definitions: [Int64: FieldDefinitions] = [:]
        for type in types {
            let fields = try self.transaction.fields(
                ofType: type[2],
                in: EnvironmentID(rawValue: type[1])
            )
            definitions[type[0]] = fields.keeping(indexes: indexes)
        }
        return definitions
    }

    /// Returns where to go on, or `nil` if all records were read.
    private func fill(
        _ build: Build,
        _ types: [Int64: FieldDefinitions],
        recordsMax: Int
    ) throws(StorageFailure) -> Int64? {
        let statement = self.records
        statement.bind(1, build.next)
        statement.bind(2, build.end ?? .max)
        var (bytes, foreign, indexed) = (0, 0, 0)
        defer { self.pass?.records += indexed }
        while try statement.step() {
            let number = statement.integer(RecordColumns.number)
            guard bytes < Self.bodyBytesMax, indexed < recordsMax,
                foreign < recordsMax * Self.foreignFactor
            else {
                statement.reset()
                return number
            }
            // What is being swept needs no entries.
            guard let definitions = types[statement.integer(RecordColumns.type)],
                statement.integer(RecordColumns.count + 3) != 0
            else {
                foreign += 1
                continue
            }
            let record = try statement.record(self.transaction.names)
            let database = DatabaseID(rawValue: statement.integer(RecordColumns.count))
            let zone = ZoneKey(database: database, number: statement.integer(RecordColumns.count + 1))
            let name = statement.text(RecordColumns.count + 2)
            let changes = IndexChanges(from: nil, to: record, named: name, definitions: definitions)
            try self.transaction.entries.change(changes, of: number, in: zone)
            bytes += record.body.bytes.count
            indexed += 1
        }
        return nil
    }

    // MARK: Removing

    /// Returns whether nothing is left to remove.
    private func removeEntries() throws -> Bool {
        let removal = try Row.fetchOne(
            self.database,
            sql: "SELECT index_number, database, zone_name FROM index_removal LIMIT 1"
        )
        guard let removal else { return true }
        let index: Int64 = removal[0]
        let zones = try Row.fetchAll(
            self.database,
            sql: """
                SELECT database, name, number FROM zone WHERE (database, name) >= (?, ?)
                ORDER BY database, name LIMIT \(Self.removalZonesMax)
                """,
            arguments: [removal[1] as Int64, removal[2] as String]
        )
        var left = Self.removedEntriesMax
        for zone in zones {
            let removed = try Int.fetchAll(
                self.database,
                sql: """
                    DELETE FROM entry WHERE database = ?1 AND zone = ?2 AND field = ?3 AND (value, record) IN
                    (SELECT value, record FROM entry WHERE database = ?1 AND zone = ?2 AND field = ?3 LIMIT ?4)
                    RETURNING \(RowBytes.SQL.entry)
                    """,
                arguments: [zone[0] as Int64, zone[2] as Int64, index, left]
            )
            if !removed.isEmpty {
                let key = ZoneKey(database: DatabaseID(rawValue: zone[0]), number: zone[2])
                self.transaction.order.pending.count(rowBytes: -removed.reduce(0, +), in: key)
            }
            left -= removed.count
            guard left > 0 else {
                try self.goOn(removing: index, at: zone)
                return false
            }
        }
        if zones.count == Self.removalZonesMax, let last = zones.last {
            try self.goOn(removing: index, at: last)
        } else {
            try self.database.execute(
                sql: "DELETE FROM index_removal WHERE index_number = ?",
                arguments: [index]
            )
        }
        return false
    }

    private func goOn(removing index: Int64, at zone: Row) throws {
        try self.database.execute(
            sql: "UPDATE index_removal SET database = ?, zone_name = ? WHERE index_number = ?",
            arguments: [zone[0] as Int64, zone[1] as String, index]
        )
    }
}
