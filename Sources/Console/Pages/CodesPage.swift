import HTTPTypes

/// Error codes and their meanings, to which the lines of the log lead.
struct CodePages: Sendable {
    let console: ConsolePages

    func codes(_ request: PageRequest) async throws -> Page {
        let rows = CodeMeaning.all.map { code -> [Markup] in
            [
                "<code class=\"word\" id=\"\(code.name)\">\(code.name)</code>",
                Parts.number("\(code.number)"),
                "\(code.meaning)", Self.words(of: code.retry), self.lines(of: code),
            ]
        }
        let body: Markup = """
            <p class="lead">Errors of requests and of their items, as the log, the metrics and the protocol name them</p>
            \(Parts.table(
                caption: "Numbers below 100 are those of CloudKit, with the same meaning; sections are those of the protocol",
                columns: ["Code", "Number", "Meaning", "The same request again", "In the log"],
                rows: rows,
                isRowList: true
            ))
            """
        var page = self.console.page("Error codes", request, body)
        page.tool = .logs
        return page
    }

    private func lines(of code: CodeMeaning) -> Markup {
        let url = PageURL("/logs", [PageURL.Item("text", code.name)])
        return "<a href=\"\(url)\" aria-label=\"Lines with \(code.name)\">Lines</a>"
    }

    private static func words(of retry: String) -> Markup {
        switch retry {
        case "never": "fails again"
        case "now": "may succeed at once"
        case "after": "may succeed after the time that the response names"
        case "after_change": "may succeed once the item, or what it refers to, has changed"
        default: "may succeed \(retry)"
        }
    }
}
