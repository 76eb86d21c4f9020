extension Migrations {
    /// Adds what Apple's client of 2025 says of zones, and restrictions of users.
    ///
    ///     zone    `encryption_scope`: 1 if the zone has one key, NULL if each record has one
    ///     user    `restricted_ms`: since when no request of the user is executed, NULL if all are
    static let format14 = [
        "ALTER TABLE zone ADD COLUMN encryption_scope INTEGER",
        "ALTER TABLE user ADD COLUMN restricted_ms INTEGER",
        "PRAGMA user_version = 14",
    ]
}
