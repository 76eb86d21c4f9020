import RecordModel
import RecordStore

/// The subscriptions of a user, and how far their listeners are.
struct SubscriptionPages: Sendable {
    let console: ConsolePages

    func subscriptions(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        var body = try await self.console.databaseForm(action: place.url(.subscriptions).path, place)
        if place.user == nil {
            body += "<p class=\"empty\">Subscriptions belong to a user: choose one.</p>"
        } else {
            let reader = try await self.console.reader(of: place)
            let store = self.console.store
            do {
                let report = try await self.console.blocking {
                    try store.subscriptionReport(for: reader.requester)
                }
                body += self.table(report, place)
            } catch let error as StoreError {
                throw PageFailure(error, doing: "The subscriptions cannot be read")
            }
        }
        return self.console.page("Subscriptions", request, place: place, section: .subscriptions, body)
    }

    private func table(_ report: SubscriptionReport, _ place: Place) -> Markup {
        let rows = report.lines.prefix(ConsolePages.rowsMax).map { line -> [Markup] in
            [
                Shown.text(line.subscription.id), self.words(for: line.subscription.kind),
                self.cursors(of: line, report.position),
            ]
        }
        let cut: Markup =
            report.lines.count > ConsolePages.rowsMax
            ? "<p>The first \(ConsolePages.rowsMax) of \(Shown.count(report.lines.count, "subscription")).</p>"
            : ""
        let table = Parts.table(
            caption:
                "Subscriptions in \(place.databaseText), which is at position \(Shown.number(report.position))",
            columns: ["Subscription", "Fires for", "Installations"],
            rows: rows,
            empty: "The user has no subscriptions in this database."
        )
        return "\(table)\(cut)"
    }

    private func words(for kind: Subscription.Kind) -> Markup {
        switch kind {
        case .database(let type): "any change in a custom zone\(self.ofType(type))"
        case .zone(let zone, let type):
            "any change in the zone \(Shown.text(zone.zoneName))\(self.ofType(type))"
        case .query(let type, let predicate, let zone, let firesOn):
            """
            \(self.events(firesOn)) of \(Shown.text(type)) \
            \(predicate == .all ? "" : "that meet a condition ")\
            \(zone.map { "in the zone \(Shown.text($0.zoneName))" })\
            \(firesOn.contains(.once) ? ", once" : "")
            """
        }
    }

    private func ofType(_ type: String?) -> Markup {
        type.map { " of records of type \(Shown.text($0))" } ?? ""
    }

    private func events(_ firesOn: Subscription.FiresOn) -> String {
        let names: [(Subscription.FiresOn, String)] = [
            (.creation, "creations"), (.update, "updates"), (.deletion, "deletions"),
        ]
        let words = names.filter { firesOn.contains($0.0) }.map(\.1)
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }

    private func cursors(of line: SubscriptionReport.Line, _ position: Int64) -> Markup {
        guard !line.cursors.isEmpty else { return "none has acknowledged anything" }
        let items = line.cursors.prefix(20).map { cursor -> Markup in
            let name = cursor.installation.prefix(6).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            let behind = max(0, position - cursor.position)
            return """
                <li><code>\(name)</code> at \(Shown.number(cursor.position)), \
                \(behind == 0 ? "at the end" : "\(Shown.count(behind, "position")) behind")</li>
                """
        }
        return "<ul class=\"elements\">\(items)</ul>"
    }
}
