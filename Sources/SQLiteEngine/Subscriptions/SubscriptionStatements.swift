import RecordModel
import RecordStore

/// Statements of the writer about subscriptions.
struct SubscriptionStatements {
    let find, duplicate, count, insert, update, delete, ofZone: HotStatement
    let ofListener, latest: HotStatement
    let moveCursor, insertCursor, deleteCursors: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        let columns = SubscriptionColumns.names
        self.find = try statement(
            "SELECT \(columns) FROM subscription WHERE database = ? AND owner = ? AND id = ?"
        )
        self.duplicate = try statement(
            "SELECT id FROM subscription WHERE database = ? AND owner = ? AND definition = ?"
        )
        self.count = try statement("SELECT count(*) FROM subscription WHERE database = ? AND owner = ?")
        self.insert = try statement(
            """
            INSERT INTO subscription (database, owner, id, position, created_position, zone, info, definition)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        self.update = try statement(
            """
            UPDATE subscription SET position = ?, created_position = ?, zone = ?, info = ?, definition = ?
            WHERE number = ?
            """
        )
        self.delete = try statement("DELETE FROM subscription WHERE number = ?")
        self.ofZone = try statement(
            """
            SELECT \(columns), owner FROM subscription WHERE database = ? AND zone = ? ORDER BY number
            """
        )
        self.ofListener = try statement(
            """
            SELECT \(columns), listener_cursor.position, zone.position FROM subscription
            LEFT JOIN listener_cursor ON listener_cursor.subscription = subscription.number
                AND listener_cursor.installation = ?3
            LEFT JOIN zone ON zone.database = subscription.database AND zone.number = subscription.zone
            WHERE subscription.database = ?1 AND owner = ?2 ORDER BY id
            """
        )
        self.latest = try statement(
            """
            SELECT max(
                coalesce((SELECT max(position) FROM zone WHERE database = ?1 AND name != ?2), 0),
                coalesce((SELECT position FROM zone_tombstone WHERE database = ?1 AND name != ?2
                    ORDER BY position DESC LIMIT 1), 0))
            """
        )
        let acknowledged =
            "FROM subscription WHERE database = ?1 AND owner = ?2 AND id = ?3 AND created_position <= ?5"
        self.moveCursor = try statement(
            """
            UPDATE listener_cursor SET position = max(position, ?6)
            WHERE installation = ?4 AND subscription = (SELECT number \(acknowledged))
            """
        )
        self.insertCursor = try statement(
            """
            INSERT INTO listener_cursor (subscription, installation, position)
            SELECT number, ?4, ?6 \(acknowledged)
            """
        )
        self.deleteCursors = try statement("DELETE FROM listener_cursor WHERE subscription = ?")
    }
}

/// Columns of a subscription, as writer and readers take them.
enum SubscriptionColumns {
    static let names = """
        subscription.number, subscription.id, subscription.position, created_position, subscription.zone, \
        definition, info
        """
    static let count: Int32 = 7
}

extension HotStatement {
    /// The subscription of a row that begins with `SubscriptionColumns`.
    func subscription(of owner: String, in database: DatabaseID) -> StoredSubscription {
        StoredSubscription(
            number: self.integer(0),
            key: SubscriptionKey(
                database: database,
                owner: owner,
                id: self.text(1),
                position: self.integer(2)
            ),
            createdPosition: self.integer(3),
            zone: self.isNull(4) ? nil : ZoneKey(database: database, number: self.integer(4)),
            definition: self.bytes(5),
            info: self.isNull(6) ? nil : self.bytes(6)
        )
    }
}
