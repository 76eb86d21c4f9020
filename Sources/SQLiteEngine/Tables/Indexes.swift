extension Migrations {
    /// Record types, their fields, and the entries of all indexes.
    static let indexTables = [
        """
        CREATE TABLE record_type (
            number INTEGER PRIMARY KEY,
            environment INTEGER NOT NULL,
            name TEXT NOT NULL,
            UNIQUE (environment, name)
        ) STRICT
        """,
        """
        CREATE TABLE field (
            number INTEGER PRIMARY KEY,
            record_type INTEGER NOT NULL,
            name TEXT NOT NULL,
            type INTEGER NOT NULL,
            is_encrypted INTEGER NOT NULL,
            declared INTEGER NOT NULL,
            indexes INTEGER NOT NULL,
            index_number INTEGER,
            UNIQUE (record_type, name)
        ) STRICT
        """,
        """
        CREATE TABLE index_entry (
            key BLOB NOT NULL,
            record INTEGER NOT NULL,
            PRIMARY KEY (key, record)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE index_counter (last INTEGER NOT NULL) STRICT",
        "INSERT INTO index_counter VALUES (0)",
        """
        CREATE TABLE index_build (
            index_number INTEGER PRIMARY KEY,
            next_record INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE index_removal (
            index_number INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            zone_name TEXT NOT NULL
        ) STRICT
        """,
    ]
}
