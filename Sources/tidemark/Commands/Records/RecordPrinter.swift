import ArgumentParser
import Foundation
import RecordJSON
import RecordModel

/// `--json`, and the format that a command prints without it.
struct RecordFormat: ParsableArguments {
    @Flag(help: "Print records as JSON lines, also on a terminal.")
    var json = false

    @OptionGroup var dateForm: DateFormOption

    /// Whether the output is a table, for a reader at a terminal.
    var isTable: Bool { !self.json && isatty(STDOUT_FILENO) == 1 }
}

/// `--dates FORM`, for commands that print records.
struct DateFormOption: ParsableArguments {
    @Option(help: "How dates are written; a table for a terminal has them as iso.")
    var dates = DateForm.milliseconds
}

extension DateForm: ExpressibleByArgument {}

/// Prints records, a page at a time.
struct RecordPrinter {
    enum Form {
        /// Columns for people: of these fields, or of all in one cell.
        case table(fields: [String]?)
        case jsonLines(DateForm)
        case csv(RecordTable)
    }

    /// Characters of a cell; the rest is cut.
    private static let cellMax = 40

    private let form: Form
    private var hasHeader = false
    /// Widths of the first page, for all that follow.
    private var widths: [Int] = []

    init(_ form: Form) { self.form = form }

    mutating func print(_ records: [Record]) {
        switch self.form {
        case .jsonLines(let dates):
            Self.print(lines: records.map { RecordJSON.text(of: $0, dates: dates) })
        case .csv(let table):
            var lines = self.hasHeader ? [] : [table.header]
            lines += records.map { table.line(of: $0) }
            self.hasHeader = true
            Self.print(lines: lines)
        case .table(let fields): self.printTable(records.map { Self.cells(of: $0, fields) }, fields)
        }
    }

    mutating func print(deleted: [DeletedRecord]) {
        switch self.form {
        case .jsonLines, .csv: Self.print(lines: deleted.map { RecordJSON.text(of: $0) })
        case .table(let fields):
            self.printTable(
                deleted.map {
                    [$0.id.recordName, $0.recordType, $0.id.zone.zoneName, "", "deleted"].map(Self.shown)
                },
                fields
            )
        }
    }

    /// Writes a header if there was no record.
    mutating func finish() {
        switch self.form {
        case .jsonLines: return
        case .csv: self.print([])
        case .table(let fields): if !self.hasHeader { self.printTable([], fields) }
        }
    }

    private static func print(lines: [[UInt8]]) {
        guard !lines.isEmpty else { return }
        Terminal.write(lines.reduce(into: []) { $0 += $1 + [UInt8(ascii: "\n")] })
    }

    // MARK: Tables

    private static func cells(of record: Record, _ fields: [String]?) -> [String] {
        let system = [
            record.id.recordName, record.recordType, record.id.zone.zoneName,
            Date(timeIntervalSince1970: Double(record.system.modifiedMilliseconds) / 1_000).formatted(
                .iso8601
            ),
        ]
        let values = record.body.fields.map { ($0.name, RecordTable.cell($0.value, dates: .iso)) }
        guard let fields else {
            return (system + [values.map { "\($0)=\($1)" }.joined(separator: " ")]).map(Self.shown)
        }
        return (system + fields.map { field in values.first { $0.0 == field }?.1 ?? "" }).map(Self.shown)
    }

    /// A cell without line breaks and without what a terminal would act on.
    private static func shown(_ text: String) -> String {
        var cell = ""
        for scalar in text.unicodeScalars.prefix(Self.cellMax + 1) {
            let isPrinted =
                scalar.properties.generalCategory != .format && PrintedText.escape(scalar) == nil
            cell.unicodeScalars.append(isPrinted ? scalar : " ")
        }
        return cell.count > Self.cellMax ? cell.prefix(Self.cellMax - 1) + "…" : cell
    }

    private mutating func printTable(_ rows: [[String]], _ fields: [String]?) {
        let header = ["NAME", "TYPE", "ZONE", "MODIFIED"] + (fields.map { $0.map(Self.shown) } ?? ["FIELDS"])
        if !self.hasHeader {
            self.widths = header.indices.map { column in
                ([header] + rows).map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
            }
        }
        let lines = (self.hasHeader ? [] : [header]) + rows
        self.hasHeader = true
        Terminal.write(lines.map { self.line($0) }.joined())
    }

    private func line(_ cells: [String]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            line += cell
            guard column < cells.count - 1 else { break }
            line += String(repeating: " ", count: max(0, self.widths[column] - cell.count) + 2)
        }
        return line + "\n"
    }
}
