extension Migrations {
    /// Containers, users, keys and roles.
    static let accountTables = [
        """
        CREATE TABLE container (
            number INTEGER PRIMARY KEY,
            identifier TEXT NOT NULL UNIQUE,
            created_ms INTEGER NOT NULL,
            history_days INTEGER,
            history_since_ms INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        """
        CREATE TABLE environment (
            number INTEGER PRIMARY KEY,
            container INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            UNIQUE (container, kind)
        ) STRICT
        """,
        "CREATE INDEX container_history ON container (history_days) WHERE history_days IS NOT NULL",
        """
        CREATE TABLE user (
            number INTEGER PRIMARY KEY,
            container INTEGER NOT NULL,
            name TEXT NOT NULL,
            record_name TEXT NOT NULL UNIQUE,
            created_ms INTEGER NOT NULL,
            token_hash BLOB,
            kind INTEGER NOT NULL DEFAULT 0,
            is_revoked INTEGER NOT NULL DEFAULT 0,
            previous_hash BLOB,
            previous_until_ms INTEGER,
            credential_version INTEGER NOT NULL DEFAULT 0,
            restricted_ms INTEGER,
            UNIQUE (container, name),
            UNIQUE (container, token_hash)
        ) STRICT
        """,
        """
        CREATE INDEX user_previous ON user (container, previous_hash)
        WHERE previous_hash IS NOT NULL
        """,
        "CREATE INDEX user_credential ON user (credential_version)",
        """
        CREATE TABLE user_contact (
            container INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            value TEXT NOT NULL,
            user INTEGER NOT NULL,
            PRIMARY KEY (container, kind, value)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX user_contact_user ON user_contact (user)",
        """
        CREATE TABLE service_key (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            container INTEGER NOT NULL,
            user INTEGER NOT NULL,
            key_id TEXT NOT NULL,
            public_key BLOB NOT NULL,
            created_ms INTEGER NOT NULL,
            revoked_ms INTEGER,
            is_read_only INTEGER NOT NULL DEFAULT 0,
            UNIQUE (container, key_id)
        ) STRICT
        """,
        "CREATE INDEX service_key_user_number ON service_key (user)",
        """
        CREATE TABLE service_key_user (
            service_key INTEGER NOT NULL,
            user INTEGER NOT NULL,
            PRIMARY KEY (service_key, user)
        ) STRICT, WITHOUT ROWID
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
        "CREATE TABLE author (number INTEGER PRIMARY KEY, record_name TEXT NOT NULL UNIQUE) STRICT",
        "CREATE TABLE secret (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID",
    ]
}
