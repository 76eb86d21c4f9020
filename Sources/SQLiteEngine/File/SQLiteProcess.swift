import GRDB
import GRDBSQLite
import SQLiteSetup

/// The process-wide settings of SQLite, applied before its first connection.
///
/// Every connection of this module is opened afterwards, since SQLite accepts these settings only
/// before the first one.
enum SQLiteProcess {
    /// Has no effect, and does no harm, in a process that used SQLite before this module.
    static let isSetUp =
        sqlite_setup_without_memory_statistics() == SQLITE_OK && sqlite_setup_page_cache() == SQLITE_OK
        && sqlite_setup_log_file() == SQLITE_OK

    /// Opens a connection to the file at `path`.
    static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        _ = self.isSetUp
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
