import GRDB
import GRDBSQLite
import SQLiteSetup
import StorageContract

/// The process-wide settings of SQLite, applied before its first connection.
///
/// Every connection of this module is opened afterwards, since SQLite accepts these settings only
/// before the first one.
enum SQLiteProcess {
    /// Has no effect, and does no harm, in a process that used SQLite before this module.
    static let isSetUp =
        sqlite_setup_without_memory_statistics() == SQLITE_OK && sqlite_setup_page_cache() == SQLITE_OK
        && sqlite_setup_log_file() == SQLITE_OK

    /// The configuration of a connection to a store, or to a copy of one.
    ///
    /// Its first step turns on the checksums of pages, before anything is read.
    static func configuration(_ label: String) -> Configuration {
        var configuration = Configuration()
        configuration.label = label
        configuration.prepareDatabase { database in
            guard let connection = database.sqliteConnection else { throw StorageFailure.unexpected(code: 0) }
            try self.useSums(connection)
        }
        return configuration
    }

    /// Opens a connection to the file at `path`.
    static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        _ = self.isSetUp
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Has a connection compare the pages that it reads with their checksums, and write checksums.
    ///
    /// - Throws: `FormatUnreleased` if the file was made without.
    static func useSums(_ connection: OpaquePointer) throws {
        var reserve = Int32(sqlite_setup_reserve_bytes)
        var code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve)
        guard code == SQLITE_OK else { throw StorageFailure(sqliteCode: code) }
        var state: Int32 = 0
        let operation = Int32(sqlite_setup_control_sums)
        code = sqlite3_file_control(connection, "main", operation, &state)
        guard code == SQLITE_OK else { throw StorageFailure(sqliteCode: code) }
        guard state == Int32(sqlite_setup_sums_used) else { throw FormatUnreleased() }
    }
}
