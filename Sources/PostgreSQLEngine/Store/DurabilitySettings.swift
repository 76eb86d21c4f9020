/// Settings of PostgreSQL without which a crash of its machine loses commits or damages the database,
/// or a wrong byte of its disk is served.
///
/// No session can turn them on: only the operator can.
enum DurabilitySettings {
    static let sql = SQL(
        """
        SELECT name FROM pg_settings
            WHERE name IN ('data_checksums', 'fsync', 'full_page_writes') AND setting = 'off' ORDER BY name
        """,
        reach: .store
    )

    /// The names of those that are off, in alphabetical order.
    static func off(_ rows: ResultRows) -> [String] { (0..<rows.count).map { rows.text($0, 0) } }
}
