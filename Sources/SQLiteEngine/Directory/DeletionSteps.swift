import GRDB
import RecordModel
import RecordStore

/// One short transaction of a deletion: the first piece of work that it finds.
///
/// Zones go as a client deletes them, so that participants of shares are told and the sweep takes the contents. Rows of users, databases
/// and containers stay, without a name: their numbers are in the memory of readers, and are never used again.
struct DeletionSteps {
    let transaction: WriterTransaction
    let database: Database

    /// Zones, each with its shares, that one transaction deletes; and rows of other tables.
    private static let zonesMax = 20
    private static let rowsMax = 500
    private static let newsMax = 100

    private struct OwnDatabase {
        let id: DatabaseID
        let scope: Int64
        let environment: EnvironmentID
    }

    // MARK: Users

    /// `leavesShares` says whether those who own what the user has joined stay.
    func deleteSome(ofUser number: Int64, leavesShares: Bool) throws -> DeletionProgress {
        let row = try Row.fetchOne(
            self.database,
            sql: "SELECT container, record_name FROM user WHERE number = ? AND kind != ?",
            arguments: [number, SQLiteDirectory.UserKind.deleted]
        )
        guard let row else { throw DirectoryError.userMissing }
        let recordName: String = row[1]
        let databases = try self.databases("owner = ? AND scope != 1", [number])
        for own in databases where own.scope == Int64(DatabaseScope.shared.rawValue) {
            let user = leavesShares ? recordName : nil
            guard try !self.leaveSome(in: own, user) else { return .more }
        }
        for own in databases {
            guard try !self.deleteSomeZones(of: own) else { return .more }
        }
        if self.transaction.mayHaveViewWork, try self.transaction.spreadNews(max: Self.newsMax) {
            return .more
        }
        for own in databases {
            let progress = try self.clearSome(of: own)
            guard progress == .done else { return progress }
        }
        for environment in try self.environments(ofContainer: row[0]) {
            try self.forget(recordName, in: environment)
        }
        try self.forget(user: number)
        return .done
    }

    /// Leaves what somebody has joined; `user` is `nil` if nobody is left to see it.
    private func leaveSome(in shared: OwnDatabase, _ user: String?) throws -> Bool {
        let views = try Row.fetchAll(
            self.database,
            sql: """
                SELECT name, number, target_database, target_zone FROM zone
                WHERE database = ? AND target_database IS NOT NULL LIMIT \(Self.zonesMax)
                """,
            arguments: [shared.id.rawValue]
        )
        for view in views {
            let name: String = view[0]
            if let user {
                let target = ZoneKey(database: DatabaseID(rawValue: view[2]), number: view[3])
                try UserRemoval(
                    transaction: self.transaction,
                    environment: shared.environment,
                    userRecordName: user
                ).leave(target, named: SharedZoneName.zone(name).zoneName, joinedBy: shared.id)
            }
            try self.transaction.deleteZone(
                ZoneKey(database: shared.id, number: view[1]),
                named: name,
                at: self.transaction.takePosition(in: shared.id)
            )
        }
        return !views.isEmpty
    }

    private func forget(_ recordName: String, in environment: EnvironmentID) throws {
        let owner = try self.transaction.authorNumber(recordName)
        for open in try self.databases("environment = ? AND scope = 1", [environment.rawValue]) {
            try UserRemoval(
                transaction: self.transaction,
                environment: environment,
                userRecordName: recordName
            ).deleteUserRecord(in: open.id)
            try self.deleteSubscriptions("database = ? AND owner = ?", [open.id.rawValue, owner])
        }
        try self.database.execute(sql: "DELETE FROM asset_user WHERE author = ?", arguments: [owner])
    }

    private func forget(user number: Int64) throws {
        for statement in [
            "DELETE FROM user_contact WHERE user = ?", "DELETE FROM user_role WHERE user = ?",
            "DELETE FROM service_key_user WHERE user = ?",
            "DELETE FROM service_key_user WHERE service_key IN (SELECT number FROM service_key WHERE user = ?)",
            "DELETE FROM service_key WHERE user = ?",
            """
            UPDATE user SET name = '_deleted-' || number, record_name = '-' || number, created_ms = 0, token_hash = NULL,
                previous_hash = NULL, previous_until_ms = NULL, is_revoked = 1, kind = \(SQLiteDirectory.UserKind.deleted),
                \(SQLiteDirectory.nextVersion)
            WHERE number = ?
            """,
        ] {
            try self.database.execute(sql: statement, arguments: [number])
        }
    }

    // MARK: Containers

    func deleteSome(ofContainer number: Int64) throws -> DeletionProgress {
        let user = try Int64.fetchOne(
            self.database,
            sql: "SELECT number FROM user WHERE container = ? AND kind != ? LIMIT 1",
            arguments: [number, SQLiteDirectory.UserKind.deleted]
        )
        if let user {
            let progress = try self.deleteSome(ofUser: user, leavesShares: false)
            return progress == .done ? .more : progress
        }
        for environment in try self.environments(ofContainer: number) {
            for open in try self.databases("environment = ? AND scope = 1", [environment.rawValue]) {
                guard try !self.deleteSomeZones(of: open) else { return .more }
                let progress = try self.clearSome(of: open)
                guard progress == .done else { return progress }
            }
        }
        for environment in try self.environments(ofContainer: number) {
            try self.forgetSchema(of: environment)
        }
        try self.database.execute(
            sql: "UPDATE container SET identifier = '-' || number, created_ms = 0 WHERE number = ?",
            arguments: [number]
        )
        return .done
    }

    private func forgetSchema(of environment: EnvironmentID) throws {
        let types = "(SELECT number FROM record_type WHERE environment = ?)"
        for statement in [
            "DELETE FROM role WHERE environment = ?", "DELETE FROM type_grant WHERE record_type IN \(types)",
            "DELETE FROM index_build WHERE index_number IN (SELECT index_number FROM field WHERE record_type IN \(types))",
            "DELETE FROM field WHERE record_type IN \(types)",
            "UPDATE record_type SET name = '-' || number WHERE environment = ?",
        ] {
            try self.database.execute(sql: statement, arguments: [environment.rawValue])
        }
    }

    // MARK: Databases

    private func databases(_ condition: String, _ arguments: StatementArguments) throws -> [OwnDatabase] {
        try Row.fetchAll(
            self.database,
            sql: "SELECT number, scope, environment FROM database WHERE \(condition) ORDER BY number",
            arguments: arguments
        ).map { row in
            OwnDatabase(
                id: DatabaseID(rawValue: row[0]),
                scope: row[1],
                environment: EnvironmentID(rawValue: row[2])
            )
        }
    }

    private func environments(ofContainer number: Int64) throws -> [EnvironmentID] {
        try Int64.fetchAll(
            self.database,
            sql: "SELECT number FROM environment WHERE container = ?",
            arguments: [number]
        ).map { EnvironmentID(rawValue: $0) }
    }

    private func deleteSomeZones(of own: OwnDatabase) throws -> Bool {
        let zones = try Row.fetchAll(
            self.database,
            sql: "SELECT name, number FROM zone WHERE database = ? LIMIT \(Self.zonesMax)",
            arguments: [own.id.rawValue]
        )
        for zone in zones {
            try self.transaction.deleteZone(
                ZoneKey(database: own.id, number: zone[1]),
                named: zone[0],
                at: self.transaction.takePosition(in: own.id)
            )
        }
        return !zones.isEmpty
    }

    /// Removes what belongs to no zone, once the contents of zones are swept.
    private func clearSome(of own: OwnDatabase) throws -> DeletionProgress {
        let key: StatementArguments = [own.id.rawValue]
        let isSweeping = try Bool.fetchOne(
            self.database,
            sql: "SELECT EXISTS (SELECT * FROM sweep WHERE database = ?)",
            arguments: key
        )
        guard isSweeping != true else {
            self.transaction.mayHaveSweepWork = true
            return .sweeping
        }
        for statement in [
            """
            UPDATE asset SET state = 2, since_ms = NULL WHERE number IN
            (SELECT number FROM asset WHERE database = ? AND state = 1 LIMIT \(Self.rowsMax))
            """,
            """
            UPDATE asset SET state = 2, since_ms = NULL WHERE number IN
            (SELECT number FROM asset WHERE database = ? AND state = 0 LIMIT \(Self.rowsMax))
            """,
            """
            DELETE FROM asset_user WHERE asset IN
            (SELECT asset FROM asset_user JOIN asset ON asset.number = asset_user.asset WHERE database = ? LIMIT \(Self.rowsMax))
            """,
            """
            DELETE FROM zone_tombstone WHERE (database, position) IN
            (SELECT database, position FROM zone_tombstone WHERE database = ? LIMIT \(Self.rowsMax))
            """,
            """
            DELETE FROM request WHERE (database, id) IN
            (SELECT database, id FROM request WHERE database = ? LIMIT \(Self.rowsMax))
            """,
        ] {
            try self.database.execute(sql: statement, arguments: key)
            if self.database.changesCount > 0 { return .more }
        }
        try self.deleteSubscriptions("database = ?", key)
        for statement in [
            "DELETE FROM share_reader WHERE reader = ?", "DELETE FROM view_refresh WHERE reader = ?",
            """
            UPDATE database SET record_count = 0, record_bytes = 0, asset_count = 0, asset_bytes = 0,
                row_bytes = 0, tombstones_gone_through = position WHERE number = ?
            """,
        ] {
            try self.database.execute(sql: statement, arguments: key)
        }
        return .done
    }

    private func deleteSubscriptions(_ condition: String, _ arguments: StatementArguments) throws {
        try self.database.execute(
            sql: """
                UPDATE database SET row_bytes = row_bytes - counted.bytes FROM (
                    SELECT database AS number, sum(\(RowBytes.SQL.subscription) + \(RowBytes.SQL.cursor) * (
                        SELECT count(*) FROM listener_cursor WHERE listener_cursor.subscription = subscription.number
                    )) AS bytes FROM subscription WHERE \(condition) GROUP BY database
                ) AS counted WHERE database.number = counted.number
                """,
            arguments: arguments
        )
        try self.database.execute(
            sql: """
                DELETE FROM listener_cursor WHERE subscription IN
                (SELECT number FROM subscription WHERE \(condition))
                """,
            arguments: arguments
        )
        try self.database.execute(sql: "DELETE FROM subscription WHERE \(condition)", arguments: arguments)
    }
}
