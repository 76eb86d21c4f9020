import GRDB

/// The tables.
///
/// A later format adds a migration; none is ever edited.
///
/// Format 1:
///
///     container, environment, user, database   who there is and what they have; a row each
///     zone            (database, name) -> number: what the contents are stored under
///     record          number -> the record, the body as it travels; found by (database, zone,
///                     name), and in format 1 followed by (database, zone, position)
///     tombstone       (database, zone, name) of what was deleted, and zone_tombstone for zones
///     hold            (database, zone, target, holder) for references with an action and parents
///     request         (database, request ID) -> the outcome, for replays
///     sweep           (database, zone) of deleted zones whose contents are still there
///     record_type, field, author   numbers in place of names that repeat
///
/// Format 2:
///
///     entry           (database, zone, index number, value, record number): all indexes of all types
///     field           gets a number, marks, the number of its index; system fields have rows as well
///     index_counter   the last number that an index got: none is ever used again
///     index_build     indexes that are not complete yet: records below `next_record` are done
///     index_removal   indexes that were dropped: entries of zones before (database, zone_name) are gone
///     role, type_grant, user_role   who may do what in public databases
///     secret          what seals the cursors of queries
///
/// Format 3:
///
///     change, stale_change   the order of changes, in place of an index on (database, zone, position)
///
/// Format 4:
///
///     record           gets the position of its creation, and an index in the order of creation
///                      (database, zone, number)
///     zone             gets its latest position, its number of records and their bytes; found by
///                      number as well
///     tombstone, zone_tombstone   get the time of the deletion; record tombstones an index in the
///                      order of positions
///     database         gets an epoch, and the position through which tombstones are gone
///
/// Format 5:
///
///     subscription, listener_cursor   what users want to be told about, and what installations know of it
///
/// Format 6:
///
///     asset, asset_user, asset_use   files, who sent them, which records name them
///     database         gets the numbers and bytes of its records and assets
///
/// Format 7:
///
///     user             gets a kind, its own mark of revocation, the token before, and the version
///                      of its credentials
///     service_key, service_key_user   keys of services, and for whom they may act
///
/// Format 8: shares (`Migrations+Format8`). Format 9: the client's token of a zone
/// (`Migrations+Format9`). Format 10: what rows take (`Migrations+Format10`). Format 11: who made a
/// pending change, and expired tokens (`Migrations+Format11`). Format 12: entries whose key is one
/// blob, in place of `entry` (`Migrations+Format12`). Format 13: histories of zones, the ledger of
/// deliveries, and keys that may only read (`Migrations+Format13`). Format 14: the encryption scope of
/// a zone, and restrictions of users (`Migrations+Format14`).
enum Migrations {
    static let formatKnown = 14

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            for statement in self.format1 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("2") { database in
            for statement in self.format2 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("3") { database in try self.migrateToFormat3(database) }
        migrator.registerMigration("4") { database in
            for statement in self.format4 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("5") { database in
            for statement in self.format5 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("6") { database in
            for statement in self.format6 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("7") { database in
            for statement in self.format7 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("8") { database in
            for statement in self.format8 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("9") { database in
            for statement in self.format9 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("10") { database in
            for statement in self.format10 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("11") { database in
            for statement in self.format11 { try database.execute(sql: statement) }
        }
        migrator.registerMigration("12") { database in try self.migrateToFormat12(database) }
        migrator.registerMigration("13") { database in
            let steps = [
                HistoryMigration.statements, DeliveryMigration.statements, ReadOnlyKeyMigration.statements,
            ]
            for statement in steps.joined() { try database.execute(sql: statement) }
            try database.execute(sql: "PRAGMA user_version = 13")
        }
        migrator.registerMigration("14") { database in
            for statement in self.format14 { try database.execute(sql: statement) }
        }
        return migrator
    }

    private static let format1 = [
        """
        CREATE TABLE container (
            number INTEGER PRIMARY KEY,
            identifier TEXT NOT NULL UNIQUE,
            created_ms INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE environment (
            number INTEGER PRIMARY KEY,
            container INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            UNIQUE (container, kind)
        ) STRICT
        """,
        """
        CREATE TABLE user (
            number INTEGER PRIMARY KEY,
            container INTEGER NOT NULL,
            name TEXT NOT NULL,
            record_name TEXT NOT NULL UNIQUE,
            created_ms INTEGER NOT NULL,
            token_hash BLOB,
            UNIQUE (container, name),
            UNIQUE (container, token_hash)
        ) STRICT
        """,
        """
        CREATE TABLE database (
            number INTEGER PRIMARY KEY,
            environment INTEGER NOT NULL,
            scope INTEGER NOT NULL,
            owner INTEGER NOT NULL,
            position INTEGER NOT NULL DEFAULT 0,
            UNIQUE (environment, scope, owner)
        ) STRICT
        """,
        """
        CREATE TABLE zone (
            database INTEGER NOT NULL,
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (database, name)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE record (
            number INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            type INTEGER NOT NULL,
            position INTEGER NOT NULL,
            created_ms INTEGER NOT NULL,
            modified_ms INTEGER NOT NULL,
            creator INTEGER NOT NULL,
            modifier INTEGER NOT NULL,
            parent TEXT,
            body BLOB NOT NULL,
            UNIQUE (database, zone, name)
        ) STRICT
        """,
        "CREATE UNIQUE INDEX record_order ON record (database, zone, position)",
        """
        CREATE TABLE tombstone (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            type INTEGER NOT NULL,
            PRIMARY KEY (database, zone, name)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE zone_tombstone (
            database INTEGER NOT NULL,
            position INTEGER NOT NULL,
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (database, position)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE hold (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            target TEXT NOT NULL,
            holder TEXT NOT NULL,
            kinds INTEGER NOT NULL,
            PRIMARY KEY (database, zone, target, holder)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE request (
            database INTEGER NOT NULL,
            id BLOB NOT NULL,
            outcome BLOB NOT NULL,
            PRIMARY KEY (database, id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE sweep (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            PRIMARY KEY (database, zone)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE record_type (
            number INTEGER PRIMARY KEY,
            environment INTEGER NOT NULL,
            name TEXT NOT NULL,
            UNIQUE (environment, name)
        ) STRICT
        """,
        """
        CREATE TABLE field (
            record_type INTEGER NOT NULL,
            name TEXT NOT NULL,
            type INTEGER NOT NULL,
            is_encrypted INTEGER NOT NULL,
            PRIMARY KEY (record_type, name)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE author (number INTEGER PRIMARY KEY, record_name TEXT NOT NULL UNIQUE) STRICT",
        "PRAGMA user_version = 1",
    ]
}
