/// Parts that pages have in common.
enum Parts {
    /// A table with a caption, whose rows become lists on a narrow screen.
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
        let heads = columns.map { column -> Markup in "<th scope=\"col\">\(column)</th>" }
        let lines = rows.map { cells -> Markup in
            let parts = zip(columns, cells).enumerated().map { offset, part -> Markup in
                offset == 0
                    ? "<th scope=\"row\" data-label=\"\(part.0)\">\(part.1)</th>"
                    : "<td data-label=\"\(part.0)\">\(part.1)</td>"
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

    /// Links of which one is the page itself.
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
