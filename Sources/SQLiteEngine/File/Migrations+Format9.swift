extension Migrations {
    /// Keeps with zones what clients send with their changes of them.
    ///
    ///     zone    `client_token`: of the user whose database has the row, so of a shared zone each
    ///             reader's own
    static let format9 = [
        "ALTER TABLE zone ADD COLUMN client_token BLOB",
        "PRAGMA user_version = 9",
    ]
}
