import StorageContract

/// Statements that list changes, deletions and entries of indexes.
///
/// A list with its records has each that is not larger than its share of a bound.
enum ListSQL {
    /// Bodies of the records of a list take so much together.
    private static let bytesMax = 4 * 1_024 * 1_024

    /// The share of each of `count` records.
    private static func share(of count: Int) -> SQLValue { .integer(Int64(Self.bytesMax / max(1, count))) }

    // MARK: Changes

    static let changes = SQL(
        """
        SELECT \(RecordColumns.all(upTo: "$5")), c.position, c.record FROM (
            SELECT database, zone, position, record FROM tidemark.change
            WHERE database = $1 AND zone = $2 AND position > $3 ORDER BY position LIMIT $4
        ) AS c
        LEFT JOIN tidemark.record AS r
            ON r.database = c.database AND r.zone = c.zone AND r.number = c.record
        ORDER BY c.position
        """
    )
    static let deletions = SQL(
        """
        SELECT d.position, d.name, t.name, c.record_name, d.covered_by FROM tidemark.tombstone AS d
        LEFT JOIN tidemark."record_type" AS t ON t.number = d.type
        LEFT JOIN tidemark."author" AS c ON c.number = d.creator
        WHERE d.database = $1 AND d.zone = $2 AND d.position > $3 ORDER BY d.position LIMIT $4
        """
    )

    static func changes(after position: Int64, in zone: ZoneKey, limit: Int) -> Question {
        Question(Self.changes, zone.parameters + [.integer(position), .count(limit), Self.share(of: limit)])
    }

    static func deletions(after position: Int64, in zone: ZoneKey, limit: Int) -> Question {
        Question(Self.deletions, zone.parameters + [.integer(position), .count(limit)])
    }

    // MARK: Entries

    /// Entries that a statement lists, and how.
    private struct Entries {
        /// Of the table of entries, such as `value, record`.
        let columns: String
        let conditions: String
        let order: String
        let limit: String

        private var end: String {
            "WHERE \(self.conditions) ORDER BY \(self.order) LIMIT \(self.limit)"
        }

        var alone: SQL { SQL("SELECT \(self.columns) FROM tidemark.index_entry \(self.end)") }

        /// `bytesMax` names the parameter of the share.
        func withRecords(bytesMax: String) -> SQL {
            SQL(
                """
                SELECT \(RecordColumns.all(upTo: bytesMax)), \(self.columns) FROM (
                    SELECT database, zone, \(self.columns) FROM tidemark.index_entry \(self.end)
                ) AS e
                LEFT JOIN tidemark.record AS r
                    ON r.database = e.database AND r.zone = e.zone AND r.number = e.record
                ORDER BY \(self.order)
                """
            )
        }
    }

    private static let having = Entries(
        columns: "record",
        conditions: "database = $1 AND zone = $2 AND index_number = $3 AND value = $4 AND record >= $5",
        order: "record",
        limit: "$6"
    )
    private static let havingAlone = ListSQL.having.alone
    static let havingWithRecords = ListSQL.having.withRecords(bytesMax: "$7")

    static func numbers(_ scan: NumberScan) -> Question {
        let values: [SQLValue] = [
            .integer(scan.index), .bytes(scan.value), .integer(scan.start), .count(scan.limit),
        ]
        let parameters = scan.zone.parameters + values
        return scan.hasRecords
            ? Question(Self.havingWithRecords, parameters + [Self.share(of: scan.limit)])
            : Question(Self.havingAlone, parameters)
    }

    /// The entries that a scan reads, without its limit and offset.
    private struct Scan {
        var conditions = "database = $1 AND zone = $2 AND index_number = $3 AND value >= $4"
        var parameters: [SQLValue]

        init(_ scan: EntryScan) {
            self.parameters = scan.zone.parameters + [.integer(scan.index), .bytes(scan.range.lower)]
            if let upper = scan.range.upper { self.add("value <", [.bytes(upper)]) }
            if let after = scan.after {
                let comparison = scan.isDescending ? "<" : ">"
                self.add("(value, record) \(comparison)", [.bytes(after.value), .integer(after.record)])
            }
        }

        private mutating func add(_ comparison: String, _ values: [SQLValue]) {
            let names = values.indices.map { "$\(self.parameters.count + $0 + 1)" }.joined(separator: ", ")
            self.conditions += " AND \(comparison) (\(names))"
            self.parameters += values
        }

        /// The numbers of the parameters that follow.
        func number(_ offset: Int) -> String { "$\(self.parameters.count + offset)" }
    }

    static func entries(_ scan: EntryScan) -> Question {
        let read = Scan(scan)
        let entries = Entries(
            columns: "value, record",
            conditions: read.conditions,
            order: scan.isDescending ? "value DESC, record DESC" : "value, record",
            limit: "\(read.number(1)) OFFSET \(read.number(2))"
        )
        let parameters = read.parameters + [.count(scan.limit), .count(scan.offset)]
        guard scan.hasRecords else { return Question(entries.alone, parameters) }
        let sql = entries.withRecords(bytesMax: read.number(3))
        return Question(sql, parameters + [Self.share(of: scan.limit)])
    }

    static func countOfEntries(_ scan: EntryScan) -> Question {
        let read = Scan(scan)
        let sql = SQL(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM tidemark.index_entry WHERE \(read.conditions) LIMIT \(read.number(1))
            ) AS found
            """
        )
        return Question(sql, read.parameters + [.count(scan.limit)])
    }
}

extension SnapshotRead {
    /// The statement that answers it; `nil` if no row can.
    func question(_ tables: TableStatements) -> Question? {
        switch self {
        case .rows(let table, let index, let keys): tables.question(of: table, by: index, keys: keys)
        case .range(let table, let range, let limit): tables.question(of: table, in: range, limit: limit)
        case .changes(let position, let zone, let limit):
            ListSQL.changes(after: position, in: zone, limit: limit)
        case .deletions(let position, let zone, let limit):
            ListSQL.deletions(after: position, in: zone, limit: limit)
        case .entries(let scan): ListSQL.entries(scan)
        case .numbers(let scan): ListSQL.numbers(scan)
        case .countOfEntries(let scan): ListSQL.countOfEntries(scan)
        }
    }
}
