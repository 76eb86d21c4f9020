import RecordStore

/// The one row of the store: what is counted in it, and which server keeps house.
struct StoreRow {
    /// Counts commits of transactions that may change anything, of whichever process.
    ///
    /// Those on the contents of databases alone are not counted: they change nothing that a writer
    /// knows from one transaction to the next.
    var generation: Int64 = 0
    /// Counts changes of schemas.
    var schemaVersion: Int64 = 0
    /// The last number that a record got, or that a server has reserved for its records.
    var lastRecord: Int64 = 0
    /// The last number that an index got.
    var lastIndex: Int64 = 0
    /// The server that keeps house; empty if none does.
    var node = ""
    /// Counts those that kept house: no two have the same.
    var term: Int64 = 0
    /// Milliseconds since 1970 by the database server's clock.
    var untilMilliseconds: Int64 = 0
    /// That clock now.
    var nowMilliseconds: Int64 = 0
    /// How many servers there are.
    var nodesCount: Int64 = 0
    /// Of the tables.
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
