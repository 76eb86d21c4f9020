extension Migrations {
    /// Adds keys of services, and what says when a credential ends.
    ///
    ///     user             kind: 0 a person, 1 a service; `credential_version` ascends in the
    ///                      whole file, and is taken anew whenever something changes that could end
    ///                      a connection of the user
    ///     service_key      of a service (`user`); `revoked_ms` is NULL while it is good
    ///     service_key_user (key, user): for whom the key may act
    ///
    /// A user without a token was revoked: there was no other way to have none.
    static let format7 = [
        "ALTER TABLE user ADD COLUMN kind INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE user ADD COLUMN is_revoked INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE user ADD COLUMN previous_hash BLOB",
        "ALTER TABLE user ADD COLUMN previous_until_ms INTEGER",
        "ALTER TABLE user ADD COLUMN credential_version INTEGER NOT NULL DEFAULT 0",
        "UPDATE user SET is_revoked = 1 WHERE token_hash IS NULL",
        "CREATE INDEX user_previous ON user (container, previous_hash) WHERE previous_hash IS NOT NULL",
        "CREATE INDEX user_credential ON user (credential_version)",
        """
        CREATE TABLE service_key (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            container INTEGER NOT NULL,
            user INTEGER NOT NULL,
            key_id TEXT NOT NULL,
            public_key BLOB NOT NULL,
            created_ms INTEGER NOT NULL,
            revoked_ms INTEGER,
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
        "PRAGMA user_version = 7",
    ]
}
