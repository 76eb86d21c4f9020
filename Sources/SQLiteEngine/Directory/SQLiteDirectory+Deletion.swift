import GRDB
import RecordModel
import RecordStore
import Synchronization

/// Deletions of users and containers.
extension SQLiteDirectory {
    func extent(of deletion: Deletion) throws(DirectoryError) -> DeletionExtent {
        try self.read { database in
            let (condition, arguments) = try Self.users(of: deletion, database)
            let users = "SELECT number FROM user WHERE \(condition)"
            let isUser = if case .user = deletion { true } else { false }
            let databases =
                isUser
                ? "SELECT number FROM database WHERE owner IN (\(users)) AND scope != 1"
                : """
                SELECT database.number FROM database JOIN environment ON environment.number = database.environment
                WHERE environment.container = ?1
                """
            let amount = try Row.fetchOne(
                database,
                sql: """
                    SELECT sum(record_count), sum(record_bytes), sum(asset_count), sum(asset_bytes),
                        sum(row_bytes)
                    FROM database WHERE number IN (\(databases))
                    """,
                arguments: isUser ? arguments : [try Self.number(ofContainer: deletion.container, database)]
            )
            func count(_ sql: String, _ arguments: StatementArguments) throws -> Int {
                try Int.fetchOne(database, sql: "SELECT count(*) FROM \(sql)", arguments: arguments) ?? 0
            }
            let place = isUser ? arguments : [try Self.number(ofContainer: deletion.container, database)]
            return DeletionExtent(
                users: try count("user WHERE \(condition)", arguments),
                stored: StoredAmount(
                    records: amount?[0] ?? 0,
                    recordBytes: amount?[1] ?? 0,
                    assets: amount?[2] ?? 0,
                    assetBytes: amount?[3] ?? 0,
                    rowBytes: amount?[4] ?? 0
                ),
                shares: try count("share WHERE database IN (\(databases))", place),
                memberships: isUser ? try count("share_reader WHERE reader IN (\(databases))", place) : 0
            )
        }
    }

    func beginDeletion(_ deletion: Deletion) throws(DirectoryError) {
        try self.write { transaction, database in
            let (condition, arguments) = try Self.users(of: deletion, database)
            let users = "SELECT number FROM user WHERE \(condition)"
            try database.execute(
                sql: """
                    UPDATE service_key SET revoked_ms = \(transaction.nowMilliseconds)
                    WHERE user IN (\(users)) AND revoked_ms IS NULL
                    """,
                arguments: arguments
            )
            try database.execute(
                sql: "DELETE FROM service_key_user WHERE user IN (\(users))",
                arguments: arguments
            )
            try database.execute(
                sql: """
                    UPDATE user SET token_hash = NULL, previous_hash = NULL, previous_until_ms = NULL, is_revoked = 1,
                        \(Self.nextVersion)
                    WHERE \(condition)
                    """,
                arguments: arguments
            )
        }
    }

    func deleteSome(of deletion: Deletion) throws(DirectoryError) -> DeletionProgress {
        let progress = Mutex(DeletionProgress.done)
        try self.write { transaction, database in
            let steps = DeletionSteps(transaction: transaction, database: database)
            let made: DeletionProgress
            switch deletion {
            case .user:
                let (condition, arguments) = try Self.users(of: deletion, database)
                let user = try Int64.fetchOne(
                    database,
                    sql: "SELECT number FROM user WHERE \(condition)",
                    arguments: arguments
                )
                guard let user else { throw DirectoryError.userMissing }
                made = try steps.deleteSome(ofUser: user, leavesShares: true)
            case .container(let identifier):
                made = try steps.deleteSome(ofContainer: Self.number(ofContainer: identifier, database))
            }
            progress.withLock { $0 = made }
        }
        return progress.withLock { $0 }
    }

    /// Which rows of `user` go, as a condition and its arguments.
    private static func users(
        of deletion: Deletion,
        _ database: Database
    ) throws -> (condition: String, arguments: StatementArguments) {
        let container = try self.number(ofContainer: deletion.container, database)
        guard case .user(let name, _) = deletion else {
            return ("container = ?1 AND kind != \(UserKind.deleted)", [container])
        }
        let isThere = try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT * FROM user WHERE container = ? AND name = ? AND kind != ?)",
            arguments: [container, name, UserKind.deleted]
        )
        guard isThere == true else { throw DirectoryError.userMissing }
        return ("container = ?1 AND name = ?2 AND kind != \(UserKind.deleted)", [container, name])
    }
}
