import Foundation
import GRDB
import RecordModel
package import StorageContract

/// The checks of a drill on a restored store.
extension StoreFile {
    package func checkPages(progress: (Int64, Int64) -> Void) throws(StoreCopyError) -> [String] {
        let tables = try self.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        var faults: [String] = []
        for (offset, table) in tables.enumerated() where faults.count < KeptRecord.faultsMax {
            let name = "\"\(table.replacing("\"", with: "\"\""))\""
            let lines = try self.read {
                try String.fetchAll($0, sql: "PRAGMA integrity_check(\(name))")
            }
            if lines != ["ok"] { faults += lines }
            progress(Int64(offset + 1), Int64(tables.count))
        }
        return Array(faults.prefix(KeptRecord.faultsMax))
    }

    package func recordByChance() throws(StoreCopyError) -> KeptRecord? {
        try self.read { database in
            let last = try Int64.fetchOne(database, sql: "SELECT max(number) FROM record") ?? 0
            guard last > 0 else { return nil }
            return try Self.record(
                database,
                "number >= ? ORDER BY number LIMIT 1",
                [Int64.random(in: 1...last)]
            )
        }
    }

    package func keptRecord(_ key: RecordKey) throws(StoreCopyError) -> KeptRecord? {
        try self.read { database in
            try Self.record(
                database,
                "number = ? AND database = ? AND zone = ?",
                [key.number, key.zone.database.rawValue, key.zone.number]
            )
        }
    }

    private static func record(
        _ database: Database,
        _ condition: String,
        _ values: [Int64]
    ) throws -> KeptRecord? {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT database, zone, number, name, position, parent, body,
                    type, created_position, created_ms, modified_ms, creator, modifier
                FROM record WHERE \(condition)
                """,
            arguments: StatementArguments(values)
        )
        return row.map { row in
            KeptRecord(
                key: RecordKey(
                    zone: ZoneKey(database: DatabaseID(rawValue: row[0]), number: row[1]),
                    number: row[2]
                ),
                name: row[3],
                position: row[4],
                columns: (7..<row.count).map { row[$0] },
                parent: row[5],
                body: [UInt8](row[6] as Data)
            )
        }
    }
}
