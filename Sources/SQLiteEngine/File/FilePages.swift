import Foundation
import GRDB
import GRDBSQLite
import SQLiteSetup
package import StorageContract

/// The pages of a store's file, read by SQLite's own descriptor: closing another one would drop the
/// locks of the process.
package final class FilePages: StorePages {
    private let reader: DatabaseQueue

    package init(in directory: String) throws(StoreCopyError) {
        guard FileManager.default.fileExists(atPath: StoreFile.path(in: directory)) else { throw .isMissing }
        self.reader = try StoreCopyError.wrapping {
            try DatabaseFile(
                configuration: SQLiteEngineConfiguration(directory: directory, housekeeping: nil)
            )
            .openReader()
        }
    }

    package var pageBytes: Int { Int(DatabaseFile.pageBytes) }

    package func compare(
        from first: Int,
        count: Int
    ) throws(StoreCopyError) -> (compared: Int, isWrong: Bool) {
        var pages = sqlite_setup_pages(first: UInt32(first), count: UInt32(count), found: 0, wrong: 0)
        try StoreCopyError.wrapping {
            try self.reader.inDatabase { database in
                let code = sqlite3_file_control(
                    database.sqliteConnection,
                    "main",
                    CInt(sqlite_setup_control_pages),
                    &pages
                )
                guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            }
        }
        return (Int(pages.found), pages.wrong != 0)
    }
}
