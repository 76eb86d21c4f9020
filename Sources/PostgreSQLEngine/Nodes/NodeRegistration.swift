/// Another server of a store, as seen by a starting one.
package struct OtherNode: Hashable, Sendable {
    package let node: NodeRegistration
    /// Time until it counts as gone without a heartbeat; not positive if it already does.
    package let millisecondsLeft: Int64

    /// Whether its last heartbeat is at most three heartbeat intervals old.
    package var mayRun: Bool {
        self.millisecondsLeft > NodeRegistration.silenceMilliseconds - NodeRegistration.runningMilliseconds
    }
}

/// Decides whether a server may serve the store beside the others.
///
/// Called with the whole store locked, before the server is registered: the next server that starts
/// sees its effects.
package typealias NodeAdmission = @Sendable (_ node: NodeRegistration, _ others: [OtherNode]) -> Bool

/// One run of one server of a store: a row that its transactions lock.
///
/// A transaction on contents of databases locks the row of its own server, which no other
/// transaction does. A transaction that may change anything locks the rows of all servers, and so
/// has the store to itself. A server without its row, or with another run in it, commits nothing.
package struct NodeRegistration: Hashable, Sendable {
    package let number: Int64
    /// A machine and a folder.
    package let name: String
    /// Drawn at random at each start.
    package let boot: Int64

    /// Interval of heartbeats.
    static let heartbeatMilliseconds: Int64 = 10_000
    /// How long a server without heartbeats counts as running.
    static let runningMilliseconds = 3 * heartbeatMilliseconds
    /// How long a server without heartbeats keeps its row.
    static let silenceMilliseconds: Int64 = 120_000

    // MARK: Statements

    static let lock = SQL(
        "SELECT number, boot FROM tidemark.node WHERE number = $1 FOR UPDATE",
        reach: .directory
    )
    static let lockAll = SQL(
        "SELECT number, boot FROM tidemark.node ORDER BY number FOR UPDATE",
        reach: .directory
    )
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    static let heartbeat = SQL(
        "UPDATE tidemark.node SET seen_ms = \(now) WHERE number = $1 AND boot = $2",
        reach: .directory
    )
    private static let replace = SQL(
        "UPDATE tidemark.node SET boot = $2, seen_ms = \(now) WHERE name = $1 RETURNING number",
        reach: .directory
    )
    private static let takeNumber = SQL(
        """
        INSERT INTO tidemark.counter AS c (name, value) VALUES ('node', 1)
        ON CONFLICT (name) DO UPDATE SET value = c.value + 1 RETURNING value
        """,
        reach: .directory
    )
    private static let insert = SQL(
        "INSERT INTO tidemark.node (number, name, boot, seen_ms) VALUES ($1, $2, $3, \(now))",
        reach: .directory
    )
    /// All other servers, and for how many milliseconds more each may still be running.
    private static let others = SQL(
        "SELECT number, name, boot, seen_ms + $2 - \(now) FROM tidemark.node WHERE number <> $1 ORDER BY number",
        reach: .directory
    )
    private static let remove = SQL(
        "DELETE FROM tidemark.node WHERE number = $1 AND boot = $2",
        reach: .directory
    )
    /// A server with a heartbeat within a time, in milliseconds.
    static let running = SQL(
        "SELECT name FROM tidemark.node WHERE seen_ms > \(now) - $1 ORDER BY seen_ms DESC LIMIT 1",
        reach: .directory
    )
    static let removeSilent = SQL(
        "DELETE FROM tidemark.node WHERE seen_ms < \(now) - $1 AND number <> $2",
        reach: .directory
    )

    // MARK: Beginning and end

    /// Registers a run, replacing an earlier one of the same name.
    ///
    /// - Throws: `notAdmitted` if the admission refuses it.
    static func begin(
        named name: String,
        on connection: PostgreSQLConnection,
        admission: NodeAdmission? = nil
    ) throws(PostgreSQLError) -> NodeRegistration {
        let boot = Int64.random(in: .min ... .max)
        var row = try self.lockStore(on: connection)
        let known = try connection.query(self.replace, [.text(name), .integer(boot)])
        let number: Int64
        if known.isEmpty {
            number = try connection.query(self.takeNumber).integer(0, 0)
            try connection.send(self.insert, [.integer(number), .text(name), .integer(boot)])
        } else {
            number = known.integer(0, 0)
        }
        let node = NodeRegistration(number: number, name: name, boot: boot)
        if let admission {
            let others = try self.others(than: node, on: connection)
            guard admission(node, others) else {
                _ = try connection.query(TransactionSQL.rollback)
                throw PostgreSQLError(.refused(.notAdmitted), "not admitted beside \(others.count) servers")
            }
        }
        row.generation += 1
        try self.commit(row, on: connection)
        return node
    }

    private static func others(
        than node: NodeRegistration,
        on connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> [OtherNode] {
        let rows = try connection.query(
            self.others,
            [.integer(node.number), .integer(self.silenceMilliseconds)]
        )
        return (0..<rows.count).map { row in
            OtherNode(
                node: NodeRegistration(
                    number: rows.integer(row, 0),
                    name: rows.text(row, 1),
                    boot: rows.integer(row, 2)
                ),
                millisecondsLeft: rows.integer(row, 3)
            )
        }
    }

    /// Removes the row, and releases the housekeeping lease at once.
    func end(_ lease: HousekeepingLease, on connection: PostgreSQLConnection) throws(PostgreSQLError) {
        var row = try Self.lockStore(on: connection)
        try connection.send(Self.remove, [.integer(self.number), .integer(self.boot)])
        if lease.isHeld(in: row) {
            row.node = ""
            row.untilMilliseconds = 0
        }
        row.generation += 1
        try Self.commit(row, on: connection)
    }

    private static func lockStore(on connection: PostgreSQLConnection) throws(PostgreSQLError) -> StoreRow {
        try connection.send(TransactionSQL.begin)
        let row = StoreRow(try connection.query(StoreRow.lock))
        guard row.format == StoreTables.format else {
            _ = try connection.query(TransactionSQL.rollback)
            throw PostgreSQLError(.refused(.otherFormat), "another version has changed the tables")
        }
        _ = try connection.query(self.lockAll)
        return row
    }

    private static func commit(
        _ row: StoreRow,
        on connection: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        try connection.send(StoreRow.write, row.parameters)
        try connection.send(TransactionSQL.commit)
        try connection.receive()
    }
}
