internal import GRDB

/// The SQL of a mirrored table: itself, its indexes and its triggers.
struct TableSQL {
    let table: MirrorTable

    /// The columns that only the mirror writes.
    static let serverColumns = ["___createTime", "___modTime", "___createdBy", "___modifiedBy"]

    private var name: String { self.table.recordType.quotedDatabaseIdentifier }
    private var literal: String { "'\(self.table.recordType)'" }

    /// Returns the table's SQL; rows that are inserted without a zone are in `zone`.
    func creation(inZone zone: Int64) -> String {
        let columns = self.table.columns.map { "\($0.name.quotedDatabaseIdentifier) \($0.sqlType)," }
        return """
            CREATE TABLE \(self.name) (
                ___zone INTEGER NOT NULL DEFAULT \(zone),
                ___recordName TEXT NOT NULL DEFAULT (lower(hex(randomblob(16))))
                    CHECK (length(___recordName) BETWEEN 1 AND 255),
                ___parent TEXT,
                \(columns.joined(separator: "\n    "))
                ___createTime REAL,
                ___modTime REAL,
                ___createdBy TEXT,
                ___modifiedBy TEXT,
                PRIMARY KEY (___zone, ___recordName)
            ) STRICT
            """
    }

    func addition(of column: MirrorTable.Column) -> String {
        "ALTER TABLE \(self.name) ADD COLUMN \(column.name.quotedDatabaseIdentifier) \(column.sqlType)"
    }

    /// The indexes by name.
    var indexes: [(name: String, sql: String)] {
        let indexed = self.table.columns.filter { $0.isIndexed || $0.kind == .reference }.map(\.name)
        return (["___parent"] + indexed).map { column in
            let index = "tidemark_\(self.table.recordType).\(column)"
            let columns = "___zone, \(column.quotedDatabaseIdentifier)"
            return (
                index,
                "CREATE INDEX \(index.quotedDatabaseIdentifier) ON \(self.name) (\(columns))"
            )
        }
    }

    /// The triggers by name.
    ///
    /// Each is two plain statements: the conflict clause of the statement that fires a trigger
    /// would replace one of an upsert.
    var triggers: [(name: String, sql: String)] {
        [
            self.trigger(
                "check",
                "BEFORE INSERT ON \(self.name)",
                """
                SELECT RAISE(ABORT, 'tidemark: ___zone is not a number of tidemark_zone')
                        WHERE NOT EXISTS (SELECT 1 FROM tidemark_zone WHERE number = NEW.___zone);
                    SELECT RAISE(ABORT, 'tidemark: a record of another type has this name')
                        WHERE EXISTS (SELECT 1 FROM tidemark_record
                            WHERE zone = NEW.___zone AND name = NEW.___recordName AND type <> \(self.literal))
                        OR EXISTS (SELECT 1 FROM tidemark_pending
                            WHERE zone = NEW.___zone AND name = NEW.___recordName AND type <> \(self.literal));
                """
            ),
            self.trigger(
                "guard",
                "BEFORE UPDATE ON \(self.name)",
                "SELECT RAISE(ABORT, 'tidemark: the server writes ___createTime, ___modTime, ___createdBy "
                    + "and ___modifiedBy');",
                also: self.differ(Self.serverColumns)
            ),
            self.trigger(
                "rename",
                "BEFORE UPDATE ON \(self.name)",
                "SELECT RAISE(ABORT, 'tidemark: a record keeps its zone and name; delete it and insert another');",
                also: self.differ(["___zone", "___recordName"])
            ),
            self.trigger("insert", "AFTER INSERT ON \(self.name)", self.noting("NEW")),
            self.trigger(
                "update",
                "AFTER UPDATE ON \(self.name)",
                self.noting("NEW"),
                also: self.differ(self.table.ownColumns)
            ),
            self.trigger("delete", "AFTER DELETE ON \(self.name)", self.noting("OLD")),
        ]
    }

    private func trigger(
        _ job: String,
        _ event: String,
        _ body: String,
        also condition: String? = nil
    ) -> (name: String, sql: String) {
        let name = "tidemark_\(self.table.recordType).\(job)"
        let more = condition.map { " AND (\($0))" } ?? ""
        return (
            name,
            """
            CREATE TRIGGER \(name.quotedDatabaseIdentifier) \(event)
                WHEN (SELECT is_applying FROM tidemark_state) = 0\(more)
                BEGIN
                    \(body)
                END
            """
        )
    }

    private func differ(_ columns: [String]) -> String {
        columns.map { "OLD.\($0.quotedDatabaseIdentifier) IS NOT NEW.\($0.quotedDatabaseIdentifier)" }
            .joined(separator: " OR ")
    }

    /// Notes that a record has changed; a parked change waits again.
    private func noting(_ row: String) -> String {
        """
        UPDATE tidemark_pending SET
                    last_transaction = (SELECT transaction_number FROM tidemark_state),
                    changed_ms = \(SystemTables.nowMilliseconds),
                    error_code = NULL, error = NULL
                WHERE zone = \(row).___zone AND name = \(row).___recordName;
            INSERT INTO tidemark_pending
                (zone, name, type, first_transaction, last_transaction, changed_ms)
                SELECT \(row).___zone, \(row).___recordName, \(self.literal),
                    transaction_number, transaction_number, \(SystemTables.nowMilliseconds)
                FROM tidemark_state
                WHERE NOT EXISTS (SELECT 1 FROM tidemark_pending
                    WHERE zone = \(row).___zone AND name = \(row).___recordName);
        """
    }
}
