/// Text with the characters of HTML escaped.
enum HTMLText {
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

/// A table.
///
/// On a narrow screen each row becomes a block of names and numbers.
struct HTMLTable {
    /// Empty for no header.
    let heads: [String]
    let rows: [[String]]
    /// Whether cells contain long texts, which may be broken anywhere.
    var isText = false

    var text: String {
        let head = self.heads.map { "<th>\(HTMLText.escaped($0))</th>" }.joined()
        let body = self.rows.map { row in
            "<tr>" + row.enumerated().map { self.cell($1, $0) }.joined() + "</tr>"
        }
        return "<table class=\"\(self.isText ? "text" : "numbers")\">"
            + (head.isEmpty ? "" : "<thead><tr>\(head)</tr></thead>") + "<tbody>\n"
            + body.joined(separator: "\n") + "\n</tbody></table>"
    }

    /// A cell carries the name of its column, for screens without room for columns.
    private func cell(_ text: String, _ column: Int) -> String {
        let name = self.isText ? "" : self.heads[column]
        let attribute = name.isEmpty ? "" : " data-name=\"\(HTMLText.escaped(name))\""
        return "<td\(attribute)>\(HTMLText.escaped(text))</td>"
    }
}
