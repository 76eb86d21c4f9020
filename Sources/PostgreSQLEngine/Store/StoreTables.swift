import StorageContract

/// The tables of a store, as this version creates them.
package enum StoreTables {
    /// The number of the format of the tables.
    package static let format: Int64 = 1

    /// The statements that create an empty store, in order.
    static var definition: [SQL] {
        let text =
            ["CREATE SCHEMA tidemark"] + self.ownTables + self.nodeTables
            + Table.all.flatMap { TableSQL(table: $0).definition }
        return text.map { SQL($0, reach: .store) }
    }

    /// Inserts the row of the store, with its identity and the first release of its format.
    static let storeRow = SQL(
        "INSERT INTO tidemark.store VALUES (1, \(StoreTables.format), $1, 0, 0, 0, 0, '', 0, 0, '0.1.0')",
        reach: .store
    )

    /// The servers of the store, and the cluster that its history belongs to.
    ///
    /// A transaction on contents of databases locks the row of its server. One that changes
    /// anything else locks the row of the store, then those of all servers.
    private static let nodeTables = [
        """
        CREATE TABLE tidemark.node (
            number bigint PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, boot bigint NOT NULL,
            seen_ms bigint NOT NULL
        ) WITH (fillfactor = 20)
        """,
        """
        CREATE TABLE tidemark.cluster (
            id bigint PRIMARY KEY, system bigint NOT NULL, timeline bigint NOT NULL,
            tables bigint NOT NULL, barriers bigint NOT NULL
        ) WITH (fillfactor = 20)
        """,
        "INSERT INTO tidemark.cluster VALUES (1, 0, 0, 0, 0)",
    ]

    /// The tables that are not declared by the rules.
    ///
    /// `store` has one row. The body and the position of a record are in no index, so an update
    /// needs no new index entry.
    private static let ownTables = [
        """
        CREATE TABLE tidemark.store (
            id bigint PRIMARY KEY, format bigint NOT NULL, "identity" bytea NOT NULL,
            generation bigint NOT NULL, schema_version bigint NOT NULL, last_record bigint NOT NULL,
            last_index bigint NOT NULL,
            node text NOT NULL, term bigint NOT NULL, until_ms bigint NOT NULL,
            release text COLLATE "C" NOT NULL
        ) WITH (fillfactor = 10)
        """,
        """
        CREATE TABLE tidemark.counter (
            name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL
        ) WITH (fillfactor = 20)
        """,
        """
        CREATE TABLE tidemark.record (
            database bigint NOT NULL, zone bigint NOT NULL, number bigint NOT NULL,
            name text COLLATE "C" NOT NULL, type bigint NOT NULL, position bigint NOT NULL,
            created_position bigint NOT NULL, created_ms bigint NOT NULL, modified_ms bigint NOT NULL,
            creator bigint NOT NULL, modifier bigint NOT NULL, parent text COLLATE "C",
            body bytea NOT NULL, PRIMARY KEY (database, zone, number)
        ) WITH (fillfactor = 80)
        """,
        "CREATE UNIQUE INDEX record_by_name ON tidemark.record (database, zone, name)",
        // Without it, and without statistics, a search by database, zone and number may scan a zone
        // by name.
        "CREATE UNIQUE INDEX record_by_number ON tidemark.record (number)",
        """
        CREATE TABLE tidemark.change (
            database bigint NOT NULL, zone bigint NOT NULL, position bigint NOT NULL,
            record bigint NOT NULL, PRIMARY KEY (database, zone, position)
        )
        """,
        """
        CREATE TABLE tidemark.tombstone (
            database bigint NOT NULL, zone bigint NOT NULL, name text COLLATE "C" NOT NULL,
            position bigint NOT NULL, type bigint NOT NULL, deleted_ms bigint NOT NULL,
            creator bigint NOT NULL, covered_by bigint, PRIMARY KEY (database, zone, name)
        )
        """,
        "CREATE UNIQUE INDEX tombstone_by_position ON tidemark.tombstone (database, zone, position)",
        """
        CREATE TABLE tidemark.hold (
            database bigint NOT NULL, zone bigint NOT NULL, target text COLLATE "C" NOT NULL,
            holder text COLLATE "C" NOT NULL, kinds bigint NOT NULL,
            PRIMARY KEY (database, zone, target, holder)
        )
        """,
        """
        CREATE TABLE tidemark.index_entry (
            database bigint NOT NULL, zone bigint NOT NULL, index_number bigint NOT NULL,
            value bytea NOT NULL, record bigint NOT NULL,
            PRIMARY KEY (database, zone, index_number, value, record)
        )
        """,
    ]
}
