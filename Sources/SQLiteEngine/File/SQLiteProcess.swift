import GRDB
import GRDBSQLite
import SQLiteSetup

/// SQLite in this process: set up once, before its first connection.
///
/// Each connection of this module is opened after that, since SQLite takes its settings only before
/// the first one.
enum SQLiteProcess {
    /// In a process that used SQLite before this module it has no effect, and does no harm.
    static let isSetUp =
        sqlite_setup_without_memory_statistics() == SQLITE_OK && sqlite_setup_page_cache() == SQLITE_OK
        && sqlite_setup_log_file() == SQLITE_OK

    /// Opens a connection to the file at `path`.
    static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        _ = self.isSetUp
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
