internal import CloudKit
internal import GRDB

/// The statements on a mirrored table.
struct TableStatements {
    let table: MirrorTable
    private let select: String
    private let upsert: String
    private let delete: String

    init(_ table: MirrorTable) {
        self.table = table
        let name = table.recordType.quotedDatabaseIdentifier
        let own = table.ownColumns.map(\.quotedDatabaseIdentifier)
        let columns = ["___zone", "___recordName"] + own + TableSQL.serverColumns
        let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        let sets = columns.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let key = "WHERE ___zone = ? AND ___recordName = ?"
        self.select = "SELECT \(own.joined(separator: ", ")) FROM \(name) \(key)"
        self.upsert = """
            INSERT INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(marks))
            ON CONFLICT (___zone, ___recordName) DO UPDATE SET \(sets)
            """
        self.delete = "DELETE FROM \(name) \(key)"
    }

    /// Returns the row of a record; `nil` if there is none.
    func row(_ database: Database, _ key: RecordKey) throws -> RowValues? {
        let statement = try database.cachedStatement(sql: self.select)
        guard let row = try Row.fetchOne(statement, arguments: key.arguments) else { return nil }
        return Array(row.databaseValues)
    }

    /// Writes the row of a record: `values`, and the server's columns of `record`.
    func put(_ database: Database, _ key: RecordKey, _ values: RowValues, of record: CKRecord) throws {
        var arguments = key.arguments
        arguments += StatementArguments(values)
        arguments += [
            record.creationDate?.timeIntervalSince1970, record.modificationDate?.timeIntervalSince1970,
            record.creatorUserRecordID?.recordName, record.lastModifiedUserRecordID?.recordName,
        ]
        try database.cachedStatement(sql: self.upsert).execute(arguments: arguments)
    }

    func remove(_ database: Database, _ key: RecordKey) throws {
        try database.cachedStatement(sql: self.delete).execute(arguments: key.arguments)
    }
}

/// The key of a record in the file.
struct RecordKey: Hashable, Sendable {
    let zone: Int64
    let name: String

    var arguments: StatementArguments { [self.zone, self.name] }
}
