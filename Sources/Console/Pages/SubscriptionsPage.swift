import RecordModel
import RecordStore
import StorageContract

/// The subscriptions of a user, or of a whole public database, and how far their listeners are.
struct SubscriptionPages: Sendable {
    let console: ConsolePages

    func subscriptions(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        var body = try await self.console.databaseForm(action: place.url(.subscriptions).path, place)
        if place.user == nil, place.scope != .public {
            body += "<p class=\"empty\">Subscriptions belong to a user: choose one.</p>"
        } else {
            let report = try await self.report(place)
            let people = try await self.console.people(of: place)
            body += self.table(report, people, place)
            body += self.trialLink(place)
        }
        return self.console.page("Subscriptions", request, place: place, section: .subscriptions, body)
    }

    func report(_ place: Place) async throws -> SubscriptionReport {
        let reader = try await self.console.reader(of: place)
        let store = self.console.store
        do {
            return try await self.console.blocking {
                try store.subscriptionReport(for: reader.requester)
            }
        } catch let error as StoreError {
            throw PageFailure(error, doing: "The subscriptions cannot be read")
        }
    }

    private func trialLink(_ place: Place) -> Markup {
        guard place.scope != .shared else { return "" }
        guard place.user != nil else {
            return "<p class=\"hint\">To try out a subscription, choose a user, whose rights count.</p>"
        }
        return """
            <p class="pages"><a href="\(place.url(.subscriptions, "/trial"))">Try out a subscription</a></p>
            """
    }

    private func table(_ report: SubscriptionReport, _ people: People, _ place: Place) -> Markup {
        let rows = report.lines.prefix(ConsolePages.rowsMax).map { line -> [Markup] in
            [
                SubscriptionTrialPages.link(line.subscription.id, of: people.name(of: line.owner), place),
                people.markup(line.owner), SubscriptionWords.markup(line.subscription.kind),
                self.cursors(of: line, report.position),
            ]
        }
        let isMore = report.isTruncated || report.lines.count > ConsolePages.rowsMax
        let cut: Markup = isMore ? "<p>The first \(rows.count), by user and name.</p>" : ""
        let table = Parts.table(
            caption:
                "Subscriptions in \(place.databaseText), which is at position \(Shown.number(report.position))",
            columns: ["Subscription", "Who", "Fires for", "Installations that listen"],
            rows: rows,
            empty: "There are no subscriptions here.",
            isRowList: true
        )
        return "\(table)\(cut)"
    }

    private func cursors(of line: SubscriptionReport.Line, _ position: Int64) -> Markup {
        guard !line.cursors.isEmpty else {
            return "<span class=\"state open\">none has acknowledged anything</span>"
        }
        let shownMax = 20
        let items = line.cursors.prefix(shownMax).map { cursor -> Markup in
            let behind = max(0, position - cursor.position)
            let seen: Markup? = cursor.seenMilliseconds.map { milliseconds in
                ", came for changes last at \(Shown.time(milliseconds: milliseconds))"
            }
            return """
                <li>\(RecordPages.installation(cursor.installation)) at \(Shown.number(cursor.position)), \
                \(behind == 0 ? "at the end" : "\(Shown.count(behind, "position")) behind")\(seen)</li>
                """
        }
        let more: Markup =
            line.cursors.count > shownMax ? "<p>and \(line.cursors.count - shownMax) others</p>" : ""
        return "<ul class=\"elements\">\(items)</ul>\(more)"
    }
}

/// A subscription in words.
enum SubscriptionWords {
    static func markup(_ kind: Subscription.Kind) -> Markup {
        switch kind {
        case .database(let type): "any change in a custom zone\(self.ofType(type))"
        case .zone(let zone, let type):
            "any change in the zone \(Shown.text(zone.zoneName))\(self.ofType(type))"
        case .query(let type, let predicate, let zone, let firesOn):
            """
            \(self.events(firesOn)) of \(Shown.text(type))\
            \(predicate == .all ? "" : " that meet a condition")\
            \(zone.map { " in the zone \(Shown.text($0.zoneName))" })\
            \(firesOn.contains(.once) ? ", once" : "")
            """
        }
    }

    private static func ofType(_ type: String?) -> Markup {
        type.map { " of records of type \(Shown.text($0))" } ?? ""
    }

    private static func events(_ firesOn: Subscription.FiresOn) -> String {
        let names: [(Subscription.FiresOn, String)] = [
            (.creation, "creations"), (.update, "updates"), (.deletion, "deletions"),
        ]
        let words = names.filter { firesOn.contains($0.0) }.map(\.1)
        guard let last = words.last else { return "nothing" }
        return words.count == 1 ? last : words.dropLast().joined(separator: ", ") + " and " + last
    }
}
