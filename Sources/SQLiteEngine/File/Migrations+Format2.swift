extension Migrations {
    /// Adds indexes, marks of fields, roles and grants, and what seals the cursors of queries.
    ///
    /// Earlier fields get the marks that a first save gives, and an index that is filled in the
    /// background where they have one. The marks are those of `IndexKinds.justInTime`, written out
    /// here because that may change and a migration may not.
    static let format2 =
        [
            """
            CREATE TABLE entry (
                database INTEGER NOT NULL,
                zone INTEGER NOT NULL,
                field INTEGER NOT NULL,
                value BLOB NOT NULL,
                record INTEGER NOT NULL,
                PRIMARY KEY (database, zone, field, value, record)
            ) STRICT, WITHOUT ROWID
            """,
            "CREATE TABLE index_counter (last INTEGER NOT NULL) STRICT",
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
            """
            CREATE TABLE role (
                number INTEGER PRIMARY KEY,
                environment INTEGER NOT NULL,
                name TEXT NOT NULL,
                UNIQUE (environment, name)
            ) STRICT
            """,
            """
            CREATE TABLE type_grant (
                record_type INTEGER NOT NULL,
                role TEXT NOT NULL,
                permissions INTEGER NOT NULL,
                PRIMARY KEY (record_type, role)
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE user_role (
                user INTEGER NOT NULL,
                role INTEGER NOT NULL,
                PRIMARY KEY (user, role)
            ) STRICT, WITHOUT ROWID
            """,
            "CREATE TABLE secret (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID",
        ] + Self.fieldsOfFormat2 + ["PRAGMA user_version = 2"]

    private static let fieldsOfFormat2 = [
        "ALTER TABLE field RENAME TO field_of_format_1",
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
        INSERT INTO field (record_type, name, type, is_encrypted, declared, indexes)
        SELECT old.record_type, old.name, old.type, old.is_encrypted, 0, CASE
            WHEN record_type.name = 'Users' OR old.is_encrypted != 0 THEN 0
            WHEN old.type = 3 THEN 7
            WHEN old.type IN (4, 5, 6, 8) THEN 3
            WHEN old.type IN (9, 17, 18, 19, 20, 22, 23) THEN 1
            ELSE 0 END
        FROM field_of_format_1 AS old JOIN record_type ON record_type.number = old.record_type
        ORDER BY old.record_type, old.name
        """,
        "DROP TABLE field_of_format_1",
        """
        INSERT INTO field (record_type, name, type, is_encrypted, declared, indexes)
        SELECT record_type.number, system.column1, system.column2, 0, 0, system.column3
        FROM record_type, (VALUES ('___recordID', 9, 1), ('___createTime', 6, 3), ('___parent', 9, 1)) AS system
        WHERE record_type.name != 'Users'
        """,
        """
        INSERT INTO field (record_type, name, type, is_encrypted, declared, indexes)
        SELECT DISTINCT record_type, '___allText', 3, 0, 0, 4 FROM field WHERE indexes & 4
        """,
        // What a first save gives as well: 1 create, 2 read, 4 write. User records have theirs without rows.
        """
        INSERT INTO type_grant (record_type, role, permissions)
        SELECT record_type.number, system.column1, system.column2
        FROM record_type, (VALUES ('_creator', 4), ('_icloud', 1), ('_world', 2)) AS system
        WHERE record_type.name != 'Users'
        """,
        "UPDATE field SET index_number = number WHERE indexes != 0",
        "INSERT INTO index_build SELECT index_number, 0 FROM field WHERE index_number IS NOT NULL",
        "INSERT INTO index_counter SELECT coalesce(max(index_number), 0) FROM field",
    ]
}
