/// Columns of text: the first is left-aligned, the others right-aligned.
struct TextTable {
    private var rows: [[String]]

    init(_ heads: [String]) { self.rows = [heads] }

    mutating func add(_ row: [String]) { self.rows.append(row) }

    var lines: [String] {
        let widths = (self.rows.first ?? []).indices.map { column in
            self.rows.map { $0[column].count }.max() ?? 0
        }
        return self.rows.map { row in
            row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + space : space + text
            }.joined(separator: "  ")
        }
    }
}
