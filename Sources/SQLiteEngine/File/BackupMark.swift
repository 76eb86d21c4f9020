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
        var header = [UInt8](repeating: 0, count: 100)
        guard pread(descriptor, &header, header.count, 0) == header.count else { throw .failed(code: 0) }
        self.put(intoFirstPage: &header)
        guard pwrite(descriptor, header, header.count, 0) == header.count else { throw .ofTarget(errno) }
    }
}
