/// Text as HTML takes it.
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

/// A table that can be pushed sideways where there is no room for it.
struct HTMLTable {
    let heads: [String]
    let rows: [[String]]
    /// Long texts, which are broken where they have to be.
    var isText = false

    var text: String {
        let head = self.heads.map { "<th>\(HTMLText.escaped($0))</th>" }.joined()
        let body = self.rows.map { row in
            "<tr>" + row.map { "<td>\(HTMLText.escaped($0))</td>" }.joined() + "</tr>"
        }
        return
            "<div class=\"wide\"><table\(self.isText ? " class=\"text\"" : "")><thead><tr>\(head)</tr></thead><tbody>\n"
            + body.joined(separator: "\n") + "\n</tbody></table></div>"
    }
}
