import Foundation
import GRDB
import RecordModel
package import StorageContract

/// The checks of a drill on a restored store.
extension StoreFile {
    package func check() throws(StoreCopyError) -> StoreCheck {
        try self.read { database in
            var check = StoreCheck()
            let lines = try String.fetchAll(
                database,
                sql: "PRAGMA integrity_check(\(StoreCheck.faultsMax))"
            )
            if lines != ["ok"] { check.faults = lines }
            let zones = try Row.fetchCursor(
                database,
                sql: """
                    SELECT zone.database, zone.name, zone.record_count, zone.byte_count,
                        count(record.number), coalesce(sum(length(record.body)), 0)
                    FROM zone LEFT JOIN record ON record.database = zone.database AND record.zone = zone.number
                    GROUP BY zone.database, zone.number
                    """
            )
            while let zone = try zones.next() { check.add(zone) }
            return check
        }
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

extension StoreCheck {
    /// Adds the numbers stated in a zone's row, and the counted ones.
    fileprivate mutating func add(_ zone: Row) {
        let (saidRecords, saidBytes): (Int64, Int64) = (zone[2], zone[3])
        let (records, bytes): (Int64, Int64) = (zone[4], zone[5])
        self.zones += 1
        self.records += records
        self.recordBytes += bytes
        guard records != saidRecords || bytes != saidBytes, self.faults.count < Self.faultsMax else { return }
        let (database, name): (Int64, String) = (zone[0], zone[1])
        self.faults.append(
            "zone \(name) of database \(database) has \(records) records of \(bytes) bytes, "
                + "and should have \(saidRecords) of \(saidBytes)"
        )
    }
}
