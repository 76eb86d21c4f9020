import GRDBSQLite
import RecordModel
import StorageContract

/// The statements that begin and end transactions of the writer, compiled once.
///
/// Parameters of all statements of the writer are numbered in the order of the text.
struct TransactionStatements {
    let begin, commit, rollback, savepoint, release, rollbackToSavepoint, dataVersion: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.begin = try statement("BEGIN IMMEDIATE")
        self.commit = try statement("COMMIT")
        self.rollback = try statement("ROLLBACK")
        self.savepoint = try statement("SAVEPOINT part")
        self.release = try statement("RELEASE part")
        self.rollbackToSavepoint = try statement("ROLLBACK TO part")
        self.dataVersion = try statement("PRAGMA data_version")
    }
}

struct ZoneStatements {
    let find, insert, contents, delete, lastChange: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.lastChange = try HotStatement(
            "SELECT coalesce(max(position), 0) FROM zone WHERE database = ? AND name != ?",
            on: connection
        )
        self.find = try HotStatement(ZoneQueries.find, on: connection)
        self.insert = try HotStatement(
            "INSERT INTO zone (database, name, number, position) VALUES (?1, ?2, ?3, ?3)",
            on: connection
        )
        self.contents = try HotStatement(
            "SELECT record_count, byte_count, row_bytes FROM zone WHERE database = ? AND name = ?",
            on: connection
        )
        self.delete = try HotStatement("DELETE FROM zone WHERE database = ? AND name = ?", on: connection)
    }
}

struct RecordStatements {
    let find, insert, update, delete, insertTombstone, deleteTombstone: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.find = try HotStatement(RecordColumns.select, on: connection)
        self.insert = try HotStatement(
            """
            INSERT INTO record (database, zone, name, type, position, created_ms, modified_ms, creator,
                modifier, parent, body, created_position)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?5)
            """,
            on: connection
        )
        self.update = try HotStatement(
            """
            UPDATE record SET position = ?, modified_ms = ?, modifier = ?, parent = ?, body = ?
            WHERE number = ?
            """,
            on: connection
        )
        self.delete = try HotStatement(
            "DELETE FROM record WHERE database = ? AND zone = ? AND name = ?",
            on: connection
        )
        self.insertTombstone = try HotStatement(
            """
            INSERT INTO tombstone (database, zone, name, position, type, deleted_ms, creator, share)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            on: connection
        )
        self.deleteTombstone = try HotStatement(
            "DELETE FROM tombstone WHERE database = ? AND zone = ? AND name = ?",
            on: connection
        )
    }
}

struct ChangeStatements {
    let insert, countZone, insertStale, stale, forgetStale, block, rewrite, delete: HotStatement

    /// A counter, or the nearest usable number: a damaged counter makes no request fail.
    static func counted(_ column: String) -> String {
        "max(min(\(column), \(Int64.countedMax)), -\(Int64.countedMax))"
    }

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.insert = try statement(ChangeQueries.insert)
        self.countZone = try statement(
            """
            UPDATE zone SET position = max(position, ?3),
                record_count = \(Self.counted("record_count")) + ?4,
                byte_count = \(Self.counted("byte_count")) + ?5, row_bytes = \(Self.counted("row_bytes")) + ?6
            WHERE database = ?1 AND number = ?2
            """
        )
        self.insertStale = try statement(
            "INSERT INTO stale_change (database, zone, positions) VALUES (?, ?, ?)"
        )
        self.stale = try statement(
            "SELECT number, database, zone, positions FROM stale_change ORDER BY number"
        )
        self.forgetStale = try statement("DELETE FROM stale_change WHERE number <= ?")
        self.block = try statement(ChangeQueries.block)
        self.rewrite = try statement(
            "UPDATE change SET entries = ? WHERE database = ? AND zone = ? AND position = ?"
        )
        self.delete = try statement("DELETE FROM change WHERE database = ? AND zone = ? AND position = ?")
    }
}

struct ReferenceStatements {
    let find, count, set, delete, deleteAll: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.find = try HotStatement(
            """
            SELECT holder, kinds FROM hold WHERE database = ? AND zone = ? AND target = ? AND holder > ?
            ORDER BY holder LIMIT ?
            """,
            on: connection
        )
        self.count = try HotStatement(
            """
            SELECT count(*) FROM (SELECT 1 FROM hold
            WHERE database = ? AND zone = ? AND target = ? AND kinds & ? != 0 LIMIT ?)
            """,
            on: connection
        )
        self.set = try HotStatement(
            "INSERT OR REPLACE INTO hold (database, zone, target, holder, kinds) VALUES (?, ?, ?, ?, ?)",
            on: connection
        )
        self.delete = try HotStatement(
            "DELETE FROM hold WHERE database = ? AND zone = ? AND target = ? AND holder = ?",
            on: connection
        )
        self.deleteAll = try HotStatement(
            "DELETE FROM hold WHERE database = ? AND zone = ? AND holder = ? RETURNING target",
            on: connection
        )
    }
}

struct NameStatements {
    let typeNumber, typeName, insertType: HotStatement
    let authorNumber, authorName, insertAuthor: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.typeNumber = try statement("SELECT number FROM record_type WHERE environment = ? AND name = ?")
        self.typeName = try statement(NameQueries.recordType)
        self.insertType = try statement("INSERT INTO record_type (environment, name) VALUES (?, ?)")
        self.authorNumber = try statement("SELECT number FROM author WHERE record_name = ?")
        self.authorName = try statement(NameQueries.author)
        self.insertAuthor = try statement("INSERT OR IGNORE INTO author (record_name) VALUES (?)")
    }

    /// The name with a number.
    func name(_ statement: HotStatement, number: Int64) throws(StorageFailure) -> String {
        statement.bind(1, number)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return statement.text(0)
    }
}

enum ZoneQueries {
    /// With the zone that a shared zone leads to.
    static let columns = "SELECT number, target_database, target_zone"
    static let find = "\(columns) FROM zone WHERE database = ? AND name = ?"
}

extension HotStatement {
    /// Finds the key of a zone with the statement of `ZoneQueries.find`.
    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        self.bind(1, database.rawValue)
        self.bind(2, name)
        guard try self.step() else { return nil }
        defer { self.reset() }
        if self.isNull(1) { return ZoneKey(database: database, number: self.integer(0)) }
        return ZoneKey(database: DatabaseID(rawValue: self.integer(1)), number: self.integer(2))
    }
}

enum ChangeQueries {
    static let insert = "INSERT INTO change (database, zone, position, entries) VALUES (?, ?, ?, ?)"
    /// The first block that ends at or after a position.
    static let block = """
        SELECT position, entries FROM change WHERE database = ? AND zone = ? AND position >= ?
        ORDER BY position LIMIT 1
        """
}

enum NameQueries {
    static let recordType = "SELECT name FROM record_type WHERE number = ?"
    static let author = "SELECT record_name FROM author WHERE number = ?"
}
