import GRDB
import RecordModel
import RecordStore

extension SQLiteDirectory {
    func storedAmount() throws(DirectoryError) -> StoredAmount {
        try self.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT ifnull(sum(record_count), 0), ifnull(sum(record_bytes), 0),
                    ifnull(sum(asset_count), 0), ifnull(sum(asset_bytes), 0), ifnull(sum(row_bytes), 0)
                    FROM database
                    """
            )
            guard let row else { throw DirectoryError.unavailable }
            return StoredAmount(
                records: row[0],
                recordBytes: row[1],
                assets: row[2],
                assetBytes: row[3],
                rowBytes: row[4]
            )
        }
    }

    func usage(ofContainer identifier: String) throws(DirectoryError) -> ContainerUsage {
        try self.read { database in
            let container = try Self.number(ofContainer: identifier, database)
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT environment.kind, user.name, sum(record_count), sum(record_bytes), sum(asset_count),
                        sum(asset_bytes), sum(row_bytes)
                    FROM environment JOIN database ON database.environment = environment.number
                    LEFT JOIN user ON user.number = database.owner
                    WHERE environment.container = ?1 AND coalesce(user.kind, 0) != ?2
                    GROUP BY environment.number, database.owner
                    ORDER BY user.name IS NOT NULL, user.name, environment.kind
                    """,
                arguments: [container, UserKind.deleted]
            )
            return ContainerUsage(
                databases: try rows.map { row in
                    guard let environment = Environment(rawValue: row[0]) else {
                        throw DirectoryError.unavailable
                    }
                    return DatabaseUsage(
                        environment: environment,
                        user: row[1],
                        amount: StoredAmount(
                            records: row[2],
                            recordBytes: row[3],
                            assets: row[4],
                            assetBytes: row[5],
                            rowBytes: row[6]
                        )
                    )
                }
            )
        }
    }
}
