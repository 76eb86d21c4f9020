import StorageContract

/// The one row of the store: its counters, and the server with the housekeeping lease.
struct StoreRow {
    /// Counts commits, by any process, of transactions that may change anything.
    ///
    /// Those on the contents of databases alone are not counted: they change nothing that a writer
    /// caches between transactions.
    var generation: Int64 = 0
    /// Counts changes of schemas.
    var schemaVersion: Int64 = 0
    /// The last assigned or reserved record number.
    var lastRecord: Int64 = 0
    /// The last assigned index number.
    var lastIndex: Int64 = 0
    /// The server that does the housekeeping; empty if none does.
    var node = ""
    /// Counts the lease's holders: no two have the same term.
    var term: Int64 = 0
    /// Milliseconds since 1970 by the database server's clock.
    var untilMilliseconds: Int64 = 0
    /// The current time of that clock.
    var nowMilliseconds: Int64 = 0
    /// The number of servers.
    var nodesCount: Int64 = 0
    /// The format of the tables.
    var format = StoreTables.format

    private static let columns = """
        generation, schema_version, last_record, last_index, node, term, until_ms,
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        """
    private static let nodes = "(SELECT count(*) FROM tidemark.node)"

    static let read = SQL(
        "SELECT \(columns), \(nodes), format FROM tidemark.store WHERE id = 1",
        reach: .directory
    )
    static let lock = SQL(
        "SELECT \(columns), \(nodes), format FROM tidemark.store WHERE id = 1 FOR UPDATE",
        reach: .directory
    )
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
        self.nodesCount = rows.integer(0, 8)
        self.format = rows.integer(0, 9)
    }

    var parameters: [SQLValue] {
        [
            .integer(self.generation), .integer(self.schemaVersion), .integer(self.lastRecord),
            .integer(self.lastIndex), .text(self.node), .integer(self.term), .integer(self.untilMilliseconds),
        ]
    }
}
