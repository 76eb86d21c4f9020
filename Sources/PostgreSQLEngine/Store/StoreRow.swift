/// The one row of the store: what is counted in it, and which server has it.
struct StoreRow {
    /// Counts commits, of whichever process.
    var generation: Int64 = 0
    /// Counts changes of schemas.
    var schemaVersion: Int64 = 0
    /// The last number that a record got, and an index.
    var lastRecord: Int64 = 0
    var lastIndex: Int64 = 0
    /// The server that has the store; empty if none has.
    var node = ""
    /// Counts servers: no two have the same.
    var term: Int64 = 0
    /// Milliseconds since 1970 by the database server's clock.
    var untilMilliseconds: Int64 = 0
    /// That clock now.
    var nowMilliseconds: Int64 = 0

    private static let columns = """
        generation, schema_version, last_record, last_index, node, term, until_ms,
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        """

    static let read = SQL("SELECT \(columns) FROM tidemark.store WHERE id = 1", reach: .directory)
    static let lock = SQL("SELECT \(columns) FROM tidemark.store WHERE id = 1 FOR UPDATE", reach: .directory)
    static let write = SQL(
        """
        UPDATE tidemark.store SET generation = $1, schema_version = $2, last_record = $3, last_index = $4,
            node = $5, term = $6, until_ms = $7 WHERE id = 1
        """,
        reach: .directory
    )

    init() {}

    init(_ rows: ResultRows) {
        guard !rows.isEmpty else { return }
        self.generation = rows.integer(0, 0)
        self.schemaVersion = rows.integer(0, 1)
        self.lastRecord = rows.integer(0, 2)
        self.lastIndex = rows.integer(0, 3)
        self.node = rows.text(0, 4)
        self.term = rows.integer(0, 5)
        self.untilMilliseconds = rows.integer(0, 6)
        self.nowMilliseconds = rows.integer(0, 7)
    }

    var parameters: [SQLValue] {
        [
            .integer(self.generation), .integer(self.schemaVersion), .integer(self.lastRecord),
            .integer(self.lastIndex), .text(self.node), .integer(self.term), .integer(self.untilMilliseconds),
        ]
    }
}

/// The lease that makes one server the only one of a store: a term, which every transaction compares, and
/// a time up to which nobody else may take the next term.
struct StoreLease {
    /// How long a server that is gone keeps others out.
    static let milliseconds: Int64 = 30_000
    /// The part of it that may pass before it is renewed while nobody writes.
    static let renewalMilliseconds: Int64 = 10_000

    let node: String
    let term: Int64

    func isHeld(by row: StoreRow) -> Bool { row.term == self.term && row.node == self.node }

    func renew(_ row: inout StoreRow) {
        row.untilMilliseconds = row.nowMilliseconds + Self.milliseconds
    }

    /// Takes the next term.
    ///
    /// A server of the same name has ended: its folder can be locked again.
    ///
    /// - Throws: `isServed` while another server has the store.
    static func take(
        _ target: ConnectionTarget,
        node: String
    ) throws(PostgreSQLEngineError) -> StoreLease {
        let outcome: Result<StoreLease, PostgreSQLEngineError>
        do throws(PostgreSQLError) {
            outcome = try Self.take(on: PostgreSQLConnection(target), node: node)
        } catch {
            throw PostgreSQLEngineError(error, target)
        }
        return try outcome.get()
    }

    private static func take(
        on connection: PostgreSQLConnection,
        node: String
    ) throws(PostgreSQLError) -> Result<StoreLease, PostgreSQLEngineError> {
        try connection.send(TransactionSQL.begin)
        var row = StoreRow(try connection.query(StoreRow.lock))
        let left = row.untilMilliseconds - row.nowMilliseconds
        guard row.node.isEmpty || row.node == node || left <= 0 else {
            // The connection goes, and the transaction with it.
            return .failure(.isServed(node: row.node, secondsLeft: Int((left + 999) / 1_000)))
        }
        row.node = node
        row.term += 1
        row.generation += 1
        let lease = StoreLease(node: node, term: row.term)
        lease.renew(&row)
        try connection.send(StoreRow.write, row.parameters)
        try connection.send(TransactionSQL.commit)
        try connection.receive()
        return .success(lease)
    }

    /// Lets the next server have the store at once.
    func giveBack(on connection: PostgreSQLConnection) throws(PostgreSQLError) {
        try connection.send(TransactionSQL.begin)
        var row = StoreRow(try connection.query(StoreRow.lock))
        if self.isHeld(by: row) {
            row.node = ""
            row.untilMilliseconds = 0
            row.generation += 1
            try connection.send(StoreRow.write, row.parameters)
        }
        try connection.send(TransactionSQL.commit)
        try connection.receive()
    }
}
