import GRDB

/// SQLite's application ID, in the first page of a file, that keeps a backup from being served.
///
/// A copy of the file that is made by hand has the mark as well. Only the transaction of a restore
/// that begins a new life of every database takes it away.
enum BackupMark {
    /// "TDMB".
    private static let applicationID: Int32 = 0x5444_4D42

    static func isOn(_ database: Database) throws -> Bool {
        try Int32.fetchOne(database, sql: "PRAGMA application_id") == self.applicationID
    }

    static func set(_ isOn: Bool, _ database: Database) throws {
        try database.execute(sql: "PRAGMA application_id = \(isOn ? self.applicationID : 0)")
    }
}
