import GRDB

/// The format of the file, and the migrations from each released format.
///
/// A release that changes the tables adds a migration, named by its version; none is ever edited.
/// `TABLES.md` describes each table.
enum Migrations {
    static let formatKnown = 1
    /// The release with format 1.
    private static let firstRelease = "0.1.0"

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration(self.firstRelease) { database in
            let tables = [
                self.accountTables, self.recordTables, self.indexTables, self.assetTables,
                self.sharingTables, self.historyTables,
            ]
            for statement in tables.joined() { try database.execute(sql: statement) }
            try database.execute(sql: "PRAGMA user_version = 1")
        }
        return migrator
    }

    /// Returns the number of a file's format; 0 if it has no tables yet.
    ///
    /// - Throws: `formatUnreleased` if the file was made before version 0.1.0: those formats had
    ///   numbers of their own.
    static func format(of database: Database) throws -> Int {
        let number = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard number > 0 else { return 0 }
        let isReleased =
            try database.tableExists("grdb_migrations")
            && self.migrator.appliedIdentifiers(database).contains(self.firstRelease)
        guard isReleased else { throw FormatUnreleased() }
        return number
    }
}

/// The file was made by a version before the first release.
struct FormatUnreleased: Error {}
