import RecordModel
import RecordStore
import StorageContract

/// Why a record came to a user or did not: rights, subscriptions, installations.
///
/// They are those of `tidemark explain-record`, from the same call.
extension RecordPages {
    func explained(
        _ id: RecordID,
        _ people: People,
        _ place: Place,
        _ reader: DatabaseReader
    ) async throws -> Markup {
        let explanation: RecordExplanation
        do throws(StoreError) {
            explanation = try await reader.explanation(of: id)
        } catch {
            let notice = Parts.notice("The record cannot be explained: \(error.row.text).", isError: true)
            return Parts.section("Access and delivery", id: "access", notice)
        }
        let own: Markup =
            place.scope == .shared
            ? "<p class=\"hint\">The page of the record in its owner's private database shows everybody.</p>"
            : ""
        let cut: Markup =
            explanation.isTruncated
            ? Parts.notice("More subscriptions or installations are known than are listed.") : ""
        return """
            \(Parts.section("Access", id: "access", "\(self.access(explanation, people))\(own)"))
            \(Parts.section("Delivery", id: "delivery", "\(self.deliveries(explanation, people))\(cut)"))
            \(Parts.section("Subscriptions", id: "subscriptions", self.matches(explanation, people, place)))
            """
    }

    private func access(_ explanation: RecordExplanation, _ people: People) -> Markup {
        Parts.table(
            caption: "Access to the record, and why",
            columns: ["Who", "May", "Why"],
            rows: explanation.access.map { line in
                let may = line.may.words.joined(separator: ", ")
                return [people.markup(line.who), "\(may.isEmpty ? "nothing" : may)", Shown.text(line.why)]
            },
            empty: "Nobody has access."
        )
    }

    // MARK: Installations

    private func deliveries(_ explanation: RecordExplanation, _ people: People) -> Markup {
        let rows = explanation.deliveries.map { delivery -> [Markup] in
            let seen: Markup =
                delivery.seenMilliseconds == 0
                ? "never" : Shown.time(milliseconds: delivery.seenMilliseconds)
            return [
                Self.installation(delivery.installation), people.markup(delivery.userRecordName),
                "<span class=\"\(self.mark(of: delivery.state))\">\(delivery.text)</span>",
                "<span class=\"number\">\(delivery.position == 0 ? "–" : Shown.number(delivery.position))</span>",
                seen, self.why(delivery),
            ]
        }
        let table = Parts.table(
            caption:
                "Installations, and whether they have the last change, at position \(Shown.number(explanation.position))",
            columns: ["Installation", "Who", "State", "Has all up to", "Last seen", "Why"],
            rows: rows,
            empty: "Nobody follows the zone."
        )
        return """
            \(table)
            <p class="hint">An installation has what came before the token that it presents. The server writes that
            down within a second, and once a minute for one that fetches all the time.</p>
            """
    }

    /// Why it lacks the change; of one that is behind, the server knows only that it has not asked.
    private func why(_ delivery: RecordExplanation.Delivery) -> Markup {
        guard delivery.state == .isBehind, delivery.why.isEmpty else { return Shown.text(delivery.why) }
        return "It has not asked for changes since: it has ended, is offline, or was not told."
    }

    private func mark(of state: RecordExplanation.Delivery.State) -> String {
        switch state {
        case .hasIt: "state good"
        case .mayNotRead: "state bad"
        case .isBehind, .neverCame, .wasSent, .passedOver, .unknown: "state open"
        }
    }

    /// The beginning of an installation's ID, with the whole as a title.
    static func installation(_ id: [UInt8]) -> Markup {
        guard !id.isEmpty else { return "none is known" }
        let digits = id.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "<code class=\"word\" title=\"\(digits)\">\(String(digits.prefix(12)))</code>"
    }

    // MARK: Subscriptions

    private func matches(_ explanation: RecordExplanation, _ people: People, _ place: Place) -> Markup {
        let rows = explanation.matches.map { match -> [Markup] in
            let user = people.name(of: match.userRecordName)
            return [
                SubscriptionTrialPages.link(match.subscriptionID, of: user, place),
                people.markup(match.userRecordName),
                match.isMatch
                    ? "<span class=\"state good\">yes</span>" : "<span class=\"state open\">no</span>",
                Shown.text(match.why),
            ]
        }
        return Parts.table(
            caption: "Subscriptions, and whether the last change of the record fires them",
            columns: ["Subscription", "Who", "Fires", "Why"],
            rows: rows,
            empty: "No subscription is about this database."
        )
    }
}
