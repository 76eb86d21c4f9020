internal import Foundation
internal import GRDB

/// The zones and tables of a file.
struct MirrorLayout: Sendable {
    /// The names of zones, by number.
    private(set) var zones: [Int64: String] = [:]
    /// By record type.
    private(set) var tables: [String: MirrorTable] = [:]

    /// 30 days.
    private static let conflictsKeptMilliseconds: Int64 = 30 * 86_400_000

    /// The number of a zone; `nil` if it is not mirrored.
    func number(ofZone name: String) -> Int64? { self.zones.first { $0.value == name }?.key }

    /// Brings the tables to what is declared, and reads what the file has.
    ///
    /// Zones and tables of an earlier declaration stay.
    ///
    /// - Throws: `MirrorError`, `DatabaseError`.
    static func prepare(
        _ database: Database,
        zones: [String],
        tables: [MirrorTable],
        isNew: Bool
    ) throws -> MirrorLayout {
        var layout = MirrorLayout()
        for zone in zones {
            try database.execute(
                sql: "INSERT INTO tidemark_zone (name) VALUES (?) ON CONFLICT (name) DO NOTHING",
                arguments: [zone]
            )
        }
        for row in try Row.fetchAll(database, sql: "SELECT number, name FROM tidemark_zone") {
            layout.zones[row["number"]] = row["name"]
        }
        guard let first = layout.zones.keys.min() else {
            throw MirrorError.invalidZone("there is no zone to mirror: name one")
        }
        for row in try Row.fetchAll(database, sql: "SELECT type, definition FROM tidemark_table") {
            let text: String = row["definition"]
            layout.tables[row["type"]] = try JSONDecoder().decode(MirrorTable.self, from: Data(text.utf8))
        }
        for (_, table) in layout.tables.sorted(by: { $0.key < $1.key }) { try Self.check(database, table) }
        for table in tables {
            if let kept = layout.tables[table.recordType] {
                layout.tables[table.recordType] = try Self.extend(database, kept, to: table)
            } else {
                try Self.create(database, table, inZone: first)
                layout.tables[table.recordType] = table
                if !isNew { try Self.fetchAnew(database) }
            }
        }
        try database.execute(
            sql: "DELETE FROM tidemark_conflict WHERE at_ms < \(SystemTables.nowMilliseconds) - ?",
            arguments: [Self.conflictsKeptMilliseconds]
        )
        guard !layout.tables.isEmpty else {
            throw MirrorError.invalidTable(table: "", detail: "there is none: declare one")
        }
        return layout
    }

    private static func create(_ database: Database, _ table: MirrorTable, inZone zone: Int64) throws {
        guard try !database.tableExists(table.recordType), try !database.viewExists(table.recordType) else {
            throw MirrorError.tableAltered(
                table: table.recordType,
                detail: "the file has a table or view of this name that is not the mirror's"
            )
        }
        let sql = TableSQL(table: table)
        try database.execute(sql: sql.creation(inZone: zone))
        for index in sql.indexes { try database.execute(sql: index.sql) }
        for trigger in sql.triggers { try database.execute(sql: trigger.sql) }
        try Self.register(database, table)
    }

    private static func register(_ database: Database, _ table: MirrorTable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try database.execute(
            sql: """
                INSERT INTO tidemark_table (type, definition) VALUES (?, ?)
                ON CONFLICT (type) DO UPDATE SET definition = excluded.definition
                """,
            arguments: [table.recordType, String(decoding: try encoder.encode(table), as: UTF8.self)]
        )
    }

    /// Forgets the position in the changes, so that everything comes again, and marks what does.
    static func fetchAnew(_ database: Database) throws {
        try database.execute(sql: "UPDATE tidemark_state SET engine = NULL")
        try database.execute(
            sql: "UPDATE tidemark_zone SET generation = generation + 1, is_sweeping = 1, is_complete = 0"
        )
    }

    /// Checks that a table, its columns and its triggers are as they were made.
    ///
    /// - Throws: `MirrorError.tableAltered`, `DatabaseError`.
    static func check(_ database: Database, _ table: MirrorTable) throws {
        func altered(_ detail: String) -> MirrorError {
            .tableAltered(table: table.recordType, detail: detail)
        }
        guard try database.tableExists(table.recordType) else { throw altered("it is missing") }
        let columns = Dictionary(
            try database.columns(in: table.recordType).map { ($0.name, $0.type) },
            uniquingKeysWith: { first, _ in first }
        )
        let wanted =
            [("___zone", "INTEGER"), ("___recordName", "TEXT"), ("___parent", "TEXT")]
            + table.columns.map { ($0.name, $0.sqlType) }
            + [
                ("___createTime", "REAL"), ("___modTime", "REAL"), ("___createdBy", "TEXT"),
                ("___modifiedBy", "TEXT"),
            ]
        for (name, type) in wanted {
            guard let found = columns[name] else { throw altered("the column \(name) is missing") }
            guard found == type else { throw altered("the column \(name) is of type \(found), not \(type)") }
        }
        let key = try database.primaryKey(table.recordType).columns
        guard key == ["___zone", "___recordName"] else { throw altered("it has another primary key") }
        for trigger in TableSQL(table: table).triggers {
            let found = try String.fetchOne(
                database,
                sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ? AND tbl_name = ?",
                arguments: [trigger.name, table.recordType]
            )
            guard found == trigger.sql else {
                throw altered("the trigger \(trigger.name) is \(found == nil ? "missing" : "another one")")
            }
        }
    }

    /// Adds the columns that are new.
    ///
    /// - Returns: The table with all its columns, also those that are no longer declared.
    private static func extend(
        _ database: Database,
        _ kept: MirrorTable,
        to declared: MirrorTable
    ) throws -> MirrorTable {
        var table = kept
        for column in declared.columns {
            if let index = kept.columns.firstIndex(where: { $0.name == column.name }) {
                let before = kept.columns[index]
                guard before.kind == column.kind, before.isEncrypted == column.isEncrypted else {
                    throw MirrorError.invalidTable(
                        table: kept.recordType,
                        detail: "the column \(column.name) was declared as \(before.kind.rawValue)"
                            + "\(before.isEncrypted ? ", encrypted," : "") before"
                    )
                }
                table.columns[index] = column
            } else {
                table.columns.append(column)
            }
        }
        guard table != kept else { return kept }
        if let fault = table.fault { throw MirrorError.invalidTable(table: kept.recordType, detail: fault) }
        try Self.alter(database, kept, to: table)
        return table
    }

    private static func alter(_ database: Database, _ kept: MirrorTable, to table: MirrorTable) throws {
        let (before, after) = (TableSQL(table: kept), TableSQL(table: table))
        for trigger in before.triggers {
            try database.execute(sql: "DROP TRIGGER \(trigger.name.quotedDatabaseIdentifier)")
        }
        let present = Set(try database.columns(in: table.recordType).map { $0.name.lowercased() })
        for column in table.columns.dropFirst(kept.columns.count) {
            guard !present.contains(column.name.lowercased()) else {
                throw MirrorError.tableAltered(
                    table: table.recordType,
                    detail: "it has a column \(column.name) that is not the mirror's"
                )
            }
            try database.execute(sql: after.addition(of: column))
        }
        let indexes = Dictionary(uniqueKeysWithValues: before.indexes.map { ($0.name, $0.sql) })
        for index in after.indexes where indexes[index.name] == nil {
            try database.execute(sql: index.sql)
        }
        let names = Set(after.indexes.map(\.name))
        for index in before.indexes where !names.contains(index.name) {
            try database.execute(sql: "DROP INDEX IF EXISTS \(index.name.quotedDatabaseIdentifier)")
        }
        try RowStore(database, tables: [table.recordType: table])
            .fill(table, from: kept.columns.count + 1)
        for trigger in after.triggers { try database.execute(sql: trigger.sql) }
        try Self.register(database, table)
    }
}
