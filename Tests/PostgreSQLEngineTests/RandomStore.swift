import Foundation
import StorageContract
import TestSupport

/// Rows for every table that a move takes along, at random, and what belongs together among them.
struct RandomStore {
    private static let rowsMax = 150

    private var generator: SeededGenerator
    /// By name of the table, each in the order of its key.
    private(set) var rows: [String: [[ColumnValue]]] = [:]

    init(seed: UInt64) {
        self.generator = SeededGenerator(seed: seed)
        for table in Table.moved where table !== ContentTables.change {
            self.rows[table.name] = self.rows(of: table)
        }
        self.rows[ContentTables.change.name] = self.changes()
    }

    private mutating func rows(of table: Table) -> [[ColumnValue]] {
        // More than a page, and more than a batch, of the largest tables.
        let count =
            [ContentTables.record.name, ContentTables.entry.name].contains(table.name) ? 2_500 : Self.rowsMax
        var rows = (0..<count).map { _ in table.columns.map { self.value(of: $0, in: table) } }
        if table === ContentTables.record {
            // No two records of a store have one number.
            var numbers: Set<ColumnValue> = []
            rows.removeAll { !numbers.insert($0[2]).inserted }
        }
        return rows.sorted { table.key(of: $0).lexicographicallyPrecedes(table.key(of: $1)) }
    }

    private mutating func value(of column: Table.Column, in table: Table) -> ColumnValue {
        if column.isOptional, Bool.random(using: &self.generator) { return .null }
        switch column.kind {
        case .integer:
            // Few zones, so that blocks of changes and prefixes of keys are full; numbers of each length.
            if ["database", "zone"].contains(column.name), ContentTables.all.contains(where: { $0 === table })
            {
                return .integer(Int64.random(in: 0..<5, using: &self.generator) * 1_000)
            }
            let bits = Int64.random(in: 20..<62, using: &self.generator)
            return .integer(Int64.random(in: 0..<(1 << bits), using: &self.generator))
        case .text:
            let length = Int.random(in: 1..<60, using: &self.generator)
            let letters: [Character] = ["a", "B", "é", "e\u{301}", "ß", "漢", "🎈", "\u{1}", "'", "\\", " "]
            let text = String((0..<length).map { _ in letters.randomElement(using: &self.generator) ?? "x" })
            // Unique, whatever the letters are.
            return .text("\(text)\(UInt64.random(in: 0 ... .max, using: &self.generator))")
        case .bytes:
            // A definition may be longer than what an index of PostgreSQL takes.
            let isLong = ["definition", "body"].contains(column.name)
            let count = Int.random(in: 8..<(isLong ? 9_000 : 900), using: &self.generator)
            return .bytes((0..<count).map { _ in UInt8.random(in: 0...255, using: &self.generator) })
        }
    }

    /// Each record has one change, at its position.
    private func changes() -> [[ColumnValue]] {
        let records = self.rows[ContentTables.record.name] ?? []
        return records.map { [$0[0], $0[1], $0[5], $0[2]] }
            .sorted { $0.prefix(3).lexicographicallyPrecedes($1.prefix(3)) }
    }
}
