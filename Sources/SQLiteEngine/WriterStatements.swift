import GRDBSQLite
import RecordStore

/// The statements of the writer, compiled once.
///
/// Parameters are numbered in the order of the text.
final class WriterStatements {
    let begin, commit, rollback, dataVersion: HotStatement
    let position, setPosition: HotStatement
    let zone, insertZone, deleteZone, insertZoneTombstone, insertSweep: HotStatement
    let record, insertRecord, updateRecord, deleteRecord: HotStatement
    let insertTombstone, deleteTombstone: HotStatement
    let holders, countOfHolders, setHold, deleteHold: HotStatement
    let outcome, insertOutcome: HotStatement
    let fields, insertField, typeNumber, typeName, insertType: HotStatement
    let authorNumber, authorName, insertAuthor: HotStatement

    init(connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.begin = try statement("BEGIN IMMEDIATE")
        self.commit = try statement("COMMIT")
        self.rollback = try statement("ROLLBACK")
        self.dataVersion = try statement("PRAGMA data_version")
        self.position = try statement("SELECT position FROM database WHERE number = ?")
        self.setPosition = try statement("UPDATE database SET position = ? WHERE number = ?")

        self.zone = try statement("SELECT number FROM zone WHERE database = ? AND name = ?")
        self.insertZone = try statement("INSERT INTO zone (database, name, number) VALUES (?, ?, ?)")
        self.deleteZone = try statement("DELETE FROM zone WHERE database = ? AND name = ?")
        self.insertZoneTombstone = try statement(
            "INSERT INTO zone_tombstone (database, position, name, number) VALUES (?, ?, ?, ?)"
        )
        self.insertSweep = try statement("INSERT INTO sweep (database, zone) VALUES (?, ?)")

        self.record = try statement(RecordColumns.select)
        self.insertRecord = try statement(
            """
            INSERT INTO record (database, zone, name, type, position, created_ms, modified_ms, creator,
                modifier, parent, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        self.updateRecord = try statement(
            """
            UPDATE record SET position = ?, modified_ms = ?, modifier = ?, parent = ?, body = ?
            WHERE database = ? AND zone = ? AND name = ?
            """
        )
        self.deleteRecord = try statement("DELETE FROM record WHERE database = ? AND zone = ? AND name = ?")
        self.insertTombstone = try statement(
            "INSERT INTO tombstone (database, zone, name, position, type) VALUES (?, ?, ?, ?, ?)"
        )
        self.deleteTombstone = try statement(
            "DELETE FROM tombstone WHERE database = ? AND zone = ? AND name = ?"
        )

        self.holders = try statement(
            """
            SELECT holder, kinds FROM hold WHERE database = ? AND zone = ? AND target = ?
            ORDER BY holder LIMIT ?
            """
        )
        self.countOfHolders = try statement(
            """
            SELECT count(*) FROM (SELECT 1 FROM hold
            WHERE database = ? AND zone = ? AND target = ? AND kinds & ? != 0 LIMIT ?)
            """
        )
        self.setHold = try statement(
            "INSERT OR REPLACE INTO hold (database, zone, target, holder, kinds) VALUES (?, ?, ?, ?, ?)"
        )
        self.deleteHold = try statement(
            "DELETE FROM hold WHERE database = ? AND zone = ? AND target = ? AND holder = ?"
        )

        self.outcome = try statement("SELECT outcome FROM request WHERE database = ? AND id = ?")
        self.insertOutcome = try statement("INSERT INTO request (database, id, outcome) VALUES (?, ?, ?)")

        self.fields = try statement("SELECT name, type, is_encrypted FROM field WHERE record_type = ?")
        self.insertField = try statement(
            "INSERT INTO field (record_type, name, type, is_encrypted) VALUES (?, ?, ?, ?)"
        )
        self.typeNumber = try statement("SELECT number FROM record_type WHERE environment = ? AND name = ?")
        self.typeName = try statement(NameQueries.recordType)
        self.insertType = try statement("INSERT INTO record_type (environment, name) VALUES (?, ?)")
        self.authorNumber = try statement("SELECT number FROM author WHERE record_name = ?")
        self.authorName = try statement(NameQueries.author)
        self.insertAuthor = try statement("INSERT OR IGNORE INTO author (record_name) VALUES (?)")
    }

    /// The name that a number stands for.
    func name(_ statement: HotStatement, number: Int64) throws(StorageFailure) -> String {
        statement.bind(1, number)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return statement.text(0)
    }
}

/// Columns of a record, as writer and readers take them.
enum RecordColumns {
    static let select = """
        SELECT type, position, created_ms, modified_ms, creator, modifier, parent, body
        FROM record WHERE database = ? AND zone = ? AND name = ?
        """
}

enum NameQueries {
    static let recordType = "SELECT name FROM record_type WHERE number = ?"
    static let author = "SELECT record_name FROM author WHERE number = ?"
}
