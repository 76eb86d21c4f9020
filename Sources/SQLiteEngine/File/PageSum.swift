import SQLiteSetup
import StorageContract

/// The checksum at the end of a page that is written without SQLite.
enum PageSum {
    /// The number that all pages of a file have, by its page 1.
    ///
    /// - Throws: `isDamaged`.
    static func identity(ofFirstPage page: [UInt8]) throws(StoreCopyError) -> UInt64 {
        var identity: UInt64 = 0
        guard page.count == Int(DatabaseFile.pageBytes), sqlite_setup_read_identity(page, &identity) != 0
        else {
            throw .isDamaged(code: self.damaged)
        }
        return identity
    }

    /// Puts the checksum into a page of a file.
    static func write(into page: inout [UInt8], number: UInt32, identity: UInt64) {
        sqlite_setup_write_sum(&page, number, identity)
    }

    /// SQLite's code for a page with a wrong checksum.
    static let damaged = Int32(sqlite_setup_damaged)

    /// Names the page in place of the code, in the report of a connection's failure on this thread.
    static func naming(
        _ path: String,
        _ report: @escaping @Sendable (EngineEvent) -> Void
    ) -> @Sendable (EngineEvent) -> Void {
        { event in
            switch event {
            case .requestFaulted(Self.damaged), .housekeepingFailed(Self.damaged):
                report(.pageDamaged(path: path, page: sqlite_setup_damaged_page()))
            default: report(event)
            }
        }
    }
}
