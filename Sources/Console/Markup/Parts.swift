/// Parts that pages have in common.
enum Parts {
    /// A table with a caption; its rows become lists on a narrow screen.
    ///
    /// - Shape: as many cells a row as there are columns.
    static func table(
        caption: Markup,
        columns: [String],
        rows: [[Markup]],
        empty: Markup = "Nothing here.",
        isRowList: Bool = false
    ) -> Markup {
        guard !rows.isEmpty else { return "<p class=\"empty\">\(empty)</p>" }
        let marks = columns.indices.map { offset -> Markup in
            self.isOfNumbers(rows.map { $0[offset] }) ? " class=\"number\"" : ""
        }
        let heads = zip(columns, marks).map { column, mark -> Markup in
            "<th scope=\"col\"\(mark)>\(column)</th>"
        }
        let lines = rows.map { cells -> Markup in
            let parts = columns.indices.map { offset -> Markup in
                offset == 0
                    ? "<th scope=\"row\" data-label=\"\(columns[0])\">\(cells[0])</th>"
                    : "<td data-label=\"\(columns[offset])\"\(marks[offset])>\(cells[offset])</td>"
            }
            return "<tr>\(parts)</tr>\n"
        }
        let list: Markup = isRowList ? " data-rows" : ""
        return """
            <div class="scroll" tabindex="0">
            <table\(list)>
            <caption>\(caption)</caption>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(lines)
            </tbody>
            </table>
            </div>
            """
    }

    /// Whether a column has numbers, and nothing else but gaps: then it is read from the right.
    private static func isOfNumbers(_ cells: [Markup]) -> Bool {
        var hasNumber = false
        for cell in cells {
            if cell.html.hasPrefix("<span class=\"number\">") {
                hasNumber = true
            } else if !cell.isEmpty, cell.html != "–", !cell.html.hasPrefix("<span class=\"hint\">") {
                return false
            }
        }
        return hasNumber
    }

    /// A number in a cell.
    static func number(_ text: String) -> Markup { "<span class=\"number\">\(text)</span>" }

    /// A list of terms.
    static func list(_ items: [(String, Markup)]) -> Markup {
        let parts = items.map { item -> Markup in "<div><dt>\(item.0)</dt><dd>\(item.1)</dd></div>\n" }
        return "<dl class=\"facts\">\(parts)</dl>"
    }

    static func section(_ title: String, id: String, _ body: Markup) -> Markup {
        "<section aria-labelledby=\"\(id)\"><h2 id=\"\(id)\">\(title)</h2>\n\(body)</section>"
    }

    /// An error, or something to know, beside what the page shows.
    static func notice(_ text: Markup, isError: Bool = false) -> Markup {
        isError
            ? "<p class=\"notice error\" role=\"alert\">\(text)</p>"
            : "<p class=\"notice\" role=\"status\">\(text)</p>"
    }

    /// Links, one of them to the page itself.
    static func tabs(_ label: String, _ tabs: [(title: String, url: PageURL, isCurrent: Bool)]) -> Markup {
        let links = tabs.map { tab -> Markup in
            let current: Markup = tab.isCurrent ? " aria-current=\"page\"" : ""
            return "<a href=\"\(tab.url)\"\(current)>\(tab.title)</a>"
        }
        return "<nav class=\"tabs\" aria-label=\"\(label)\">\(links)</nav>"
    }

    /// A field of a form that a form keeps as it is.
    static func hidden(_ name: String, _ value: String?) -> Markup {
        guard let value else { return "" }
        return "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    static func option(_ value: String, _ title: String, isSelected: Bool) -> Markup {
        let selected: Markup = isSelected ? " selected" : ""
        return "<option value=\"\(value)\"\(selected)>\(title)</option>"
    }

    /// Texts that a field offers, by the ID that it names.
    static func choices(_ id: String, _ texts: [String]) -> Markup {
        let options = texts.map { text -> Markup in "<option value=\"\(text)\">" }
        return "<datalist id=\"\(id)\">\(options)</datalist>"
    }

    /// A command to be typed; lines do not break after the dashes of its options.
    static func command(_ text: String) -> Markup {
        let words = text.split(separator: " ").map { word -> Markup in
            word.hasPrefix("-") ? "<span class=\"word\">\(String(word))</span> " : "\(String(word)) "
        }
        return "<code>\(words)</code>"
    }

    /// A link to the next page of a list.
    static func next(_ url: PageURL?) -> Markup {
        guard let url else { return "" }
        return "<p class=\"pages\"><a rel=\"next\" href=\"\(url)\">Next page</a></p>"
    }

    /// Text to be copied, with a button that the script makes work.
    static func copied(_ title: String, id: String, _ text: String) -> Markup {
        """
        <details class="copied">
        <summary>\(title)</summary>
        <button type="button" class="script" data-copies="\(id)">Copy</button>
        <pre id="\(id)" tabindex="0">\(text)</pre>
        </details>
        """
    }
}
