import RecordStore

/// The page that lists changes made from pages.
struct AuditPages: Sendable {
    let console: ConsolePages

    func audit(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        let audit = self.console.configuration.audit
        // Only those of the container are of interest here.
        let all = try await self.console.blocking { audit?.entries(limit: 10 * ConsolePages.rowsMax) ?? [] }
        let entries = all.filter { $0.container == place.container }.prefix(ConsolePages.rowsMax)
        let rows = entries.map { entry -> [Markup] in
            [
                Shown.time(milliseconds: entry.atMilliseconds), Shown.text(entry.person),
                "<span class=\"word\">\(entry.environment)</span>", Shown.cut(entry.what, to: 1_024),
                self.outcome(of: entry),
            ]
        }
        let body: Markup = """
            \(Parts.table(
                caption: "Changes that people made from pages of a console, the newest first",
                columns: ["At", "Person", "Environment", "Change", "Outcome"],
                rows: rows,
                empty: "Nobody has changed anything from a page."
            ))
            <p class="hint">The person is the user of the system who ran the console. The lines are in <code>console.log</code>
            in the data folder; changes that the command line makes are not among them.</p>
            """
        return self.console.page("Audit", request, place: place, section: .audit, body)
    }

    private func outcome(of entry: ConsoleAudit.Entry) -> Markup {
        let text: Markup = entry.text.isEmpty ? "" : " \(Shown.cut(entry.text, to: 1_024))"
        return switch entry.outcome {
        case .done?: "<span class=\"state good\">done</span>"
        case .refused?: "<span class=\"state bad\">refused</span>\(text)"
        case .unknown?, nil: "<span class=\"state open\">not known</span>\(text)"
        }
    }
}
