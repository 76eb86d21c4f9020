extension Migrations {
    /// Adds what Apple's client of 2025 says of zones.
    ///
    ///     zone    `encryption_scope`: 1 if the zone has one key, NULL if each record has one
    static let format14 = [
        "ALTER TABLE zone ADD COLUMN encryption_scope INTEGER",
        "PRAGMA user_version = 14",
    ]
}
