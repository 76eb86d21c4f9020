internal import CloudKit
internal import Foundation
internal import GRDB

/// The rows, ancestors and pending changes of a file, within one transaction of the mirror.
///
/// Its caller sets `is_applying` around its use, so that no trigger notes what it writes.
struct RowStore {
    let database: Database
    let policy: MirrorConflictPolicy
    private let statements: [String: TableStatements]
    /// Events to report when the transaction is committed.
    var events: [MirrorEvent] = []

    init(
        _ database: Database,
        tables: [String: MirrorTable],
        policy: MirrorConflictPolicy = .fieldwise
    ) {
        self.database = database
        self.policy = policy
        self.statements = tables.mapValues { TableStatements($0) }
    }

    /// Runs the body while no trigger notes what it writes.
    static func applying<Value>(_ database: Database, _ body: () throws -> Value) throws -> Value {
        try database.execute(sql: "UPDATE tidemark_state SET is_applying = 1")
        let value = try body()
        try database.execute(sql: "UPDATE tidemark_state SET is_applying = 0")
        return value
    }

    /// A record as the server had it last.
    struct Ancestor {
        let type: String
        let record: CKRecord
        /// Whether it was saved from here since the last fetch.
        let isFresh: Bool
    }

    /// A local change that the server does not have.
    struct Pending {
        let type: String
        let changedMilliseconds: Int64
        let isParked: Bool
    }

    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try self.database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func statements(of type: String) -> TableStatements? { self.statements[type] }

    // MARK: Ancestors

    func ancestor(_ key: RecordKey) throws -> Ancestor? {
        let statement = try self.database.cachedStatement(
            sql: """
                SELECT type, ancestor,
                    saved_in IS (SELECT fetches FROM tidemark_zone WHERE number = zone) AS is_fresh
                FROM tidemark_record WHERE zone = ? AND name = ?
                """
        )
        guard let row = try Row.fetchOne(statement, arguments: key.arguments) else { return nil }
        let bytes: Data = row["ancestor"]
        // A damaged one is none: the record comes again with the server's next conflict.
        return CKRecord.served(Array(bytes)).map {
            Ancestor(type: row["type"], record: $0, isFresh: row["is_fresh"])
        }
    }

    /// Stores a record as the ancestor, with the generation of its zone.
    func keep(_ record: CKRecord, _ key: RecordKey, isSaved: Bool = false) throws {
        guard let bytes = record.servedBytes else { return }
        try self.execute(
            """
            INSERT INTO tidemark_record (zone, name, type, generation, ancestor, saved_in)
            SELECT ?, ?, ?, generation, ?, iif(?, fetches, NULL) FROM tidemark_zone WHERE number = ?
            ON CONFLICT (zone, name) DO UPDATE SET
                type = excluded.type, generation = excluded.generation, ancestor = excluded.ancestor,
                saved_in = excluded.saved_in
            """,
            [key.zone, key.name, record.recordType, Data(bytes), isSaved, key.zone]
        )
    }

    /// Marks a record as seen in the current generation.
    func see(_ key: RecordKey) throws {
        try self.execute(
            """
            UPDATE tidemark_record SET generation = z.generation
            FROM (SELECT generation FROM tidemark_zone WHERE number = ?) z
            WHERE zone = ? AND name = ? AND tidemark_record.generation <> z.generation
            """,
            [key.zone, key.zone, key.name]
        )
    }

    func forget(_ key: RecordKey) throws {
        try self.execute("DELETE FROM tidemark_record WHERE zone = ? AND name = ?", key.arguments)
    }

    // MARK: Pending changes

    func pending(_ key: RecordKey) throws -> Pending? {
        let statement = try self.database.cachedStatement(
            sql: "SELECT type, changed_ms, error_code FROM tidemark_pending WHERE zone = ? AND name = ?"
        )
        return try Row.fetchOne(statement, arguments: key.arguments).map {
            Pending(
                type: $0["type"],
                changedMilliseconds: $0["changed_ms"],
                isParked: $0["error_code"] != nil
            )
        }
    }

    /// Removes a pending change: the server has it, or it was overruled.
    func settle(_ key: RecordKey) throws {
        try self.execute("DELETE FROM tidemark_pending WHERE zone = ? AND name = ?", key.arguments)
        try self.forgetSent(key)
    }

    /// Keeps a change pending that was made after the one that has been settled.
    func keepPending(_ key: RecordKey) throws {
        try self.execute(
            """
            UPDATE tidemark_pending SET first_transaction = last_transaction, position = NULL
            WHERE zone = ? AND name = ?
            """,
            key.arguments
        )
        try self.forgetSent(key)
    }

    func forgetSent(_ key: RecordKey) throws {
        try self.execute("DELETE FROM tidemark_sent WHERE zone = ? AND name = ?", key.arguments)
    }

    /// Values that were sent without a response, by column name; '' for a deletion.
    func sent(_ key: RecordKey) throws -> [String: [DatabaseValue]] {
        let statement = try self.database.cachedStatement(
            sql: "SELECT \"column\", value FROM tidemark_sent WHERE zone = ? AND name = ?"
        )
        return try Row.fetchAll(statement, arguments: key.arguments).reduce(into: [:]) { sent, row in
            sent[row["column"], default: []].append(row["value"])
        }
    }

    func sent(_ key: RecordKey, of table: MirrorTable) throws -> [Int: [DatabaseValue]] {
        let sent = try self.sent(key)
        guard !sent.isEmpty else { return [:] }
        return table.ownColumns.enumerated().reduce(into: [:]) { byIndex, column in
            byIndex[column.offset] = sent[column.element]
        }
    }

    func noteSent(_ key: RecordKey, _ column: String, _ value: DatabaseValue) throws {
        try self.execute(
            """
            INSERT INTO tidemark_sent (zone, name, "column", value) SELECT ?, ?, ?, ?
            WHERE NOT EXISTS (SELECT 1 FROM tidemark_sent
                WHERE zone = ? AND name = ? AND "column" = ? AND value IS ?)
            """,
            [key.zone, key.name, column, value, key.zone, key.name, column, value]
        )
    }

    // MARK: Conflicts

    /// Keeps an overruled value.
    func noteConflict(
        _ key: RecordKey,
        _ type: String,
        column: String?,
        ancestor: DatabaseValue,
        mine: DatabaseValue,
        theirs: DatabaseValue,
        winner: Merge.Side
    ) throws {
        try self.execute(
            """
            INSERT INTO tidemark_conflict
                (zone, name, type, at_ms, "column", ancestor, mine, theirs, winner)
            VALUES (?, ?, ?, \(SystemTables.nowMilliseconds), ?, ?, ?, ?, ?)
            """,
            [key.zone, key.name, type, column, ancestor, mine, theirs, winner.rawValue]
        )
    }

    /// Keeps what was overruled of a whole record: the side that was deleted is `nil`.
    func noteConflict(
        _ key: RecordKey,
        _ table: MirrorTable,
        ancestor: RowValues?,
        mine: RowValues?,
        theirs: RowValues?,
        winner: Merge.Side
    ) throws {
        func text(_ values: RowValues?) -> DatabaseValue {
            values.map { ValueText.object(table, $0) }.databaseValue
        }
        try self.noteConflict(
            key,
            table.recordType,
            column: nil,
            ancestor: text(ancestor),
            mine: text(mine),
            theirs: text(theirs),
            winner: winner
        )
    }

    // MARK: Columns

    /// Fills the columns of a table that are new, from the ancestors of its records; `first` is the
    /// index of the first of them in `RowValues`.
    func fill(_ table: MirrorTable, from first: Int) throws {
        guard let statements = self.statements(of: table.recordType) else { return }
        let names = try Row.fetchCursor(
            self.database,
            sql: "SELECT zone, name FROM tidemark_record WHERE type = ?",
            arguments: [table.recordType]
        )
        while let row = try names.next() {
            let key = RecordKey(zone: row["zone"], name: row["name"])
            guard let record = try self.ancestor(key)?.record,
                var values = try statements.row(self.database, key)
            else { continue }
            let served = table.values(of: record)
            for index in values.indices.dropFirst(first) { values[index] = served[index] }
            try statements.put(self.database, key, values, of: record)
        }
    }
}
