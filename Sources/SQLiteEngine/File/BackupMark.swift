import Foundation
import GRDB
import StorageContract

/// SQLite's application ID, in the first page of a file, that prevents a backup from being served.
///
/// A manual copy of the file has the mark too. Only the transaction of a restore that begins a new
/// life of every database removes it.
enum BackupMark {
    /// "TDMB".
    private static let applicationID: Int32 = 0x5444_4D42

    static func isOn(_ database: Database) throws -> Bool {
        try Int32.fetchOne(database, sql: "PRAGMA application_id") == self.applicationID
    }

    static func set(_ isOn: Bool, _ database: Database) throws {
        try database.execute(sql: "PRAGMA application_id = \(isOn ? self.applicationID : 0)")
    }

    /// Marks the first page of a file, and states that the file has no log.
    ///
    /// - Source: SQLite, "Database File Format", section 1.3: the versions at 18 and 19, the
    ///   application ID at 68.
    static func put(intoFirstPage page: inout [UInt8]) {
        page.replaceSubrange(18..<20, with: [1, 1])
        let id = UInt32(bitPattern: self.applicationID)
        page.replaceSubrange(68..<72, with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> $0) })
    }

    /// Marks a copy without a change to its contents.
    ///
    /// - Throws: `failed`, `diskFull`.
    static func put(intoFile path: String) throws(StoreCopyError) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .ofTarget(errno) }
        defer { close(descriptor) }
        var page = [UInt8](repeating: 0, count: Int(DatabaseFile.pageBytes))
        guard pread(descriptor, &page, page.count, 0) == page.count else { throw .failed(code: 0) }
        let identity = try PageSum.identity(ofFirstPage: page)
        self.put(intoFirstPage: &page)
        PageSum.write(into: &page, number: 1, identity: identity)
        guard pwrite(descriptor, page, page.count, 0) == page.count else { throw .ofTarget(errno) }
    }
}
