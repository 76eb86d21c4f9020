import Foundation
import RecordModel
import RecordStore
import StorageContract

/// A dry run of a subscription: one of the user's, or one that the operator types.
struct SubscriptionTrialPages: Sendable {
    let console: ConsolePages

    /// A link to the dry run of a user's subscription; its ID alone if there is none.
    static func link(_ id: String, of user: String?, _ place: Place) -> Markup {
        guard let user, place.scope != .shared else { return Shown.text(id) }
        var own = place
        own.user = user
        let url = own.url(.subscriptions, "/trial").adding("subscription", id)
        return "<a href=\"\(url)\">\(Shown.text(id))</a>"
    }

    func trial(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        guard place.user != nil else {
            throw PageFailure.invalid("The rights of a subscription's user count: choose a user.")
        }
        guard place.scope != .shared else {
            throw PageFailure.invalid(
                "The changes of a shared zone are in its owner's private database: try the subscription there."
            )
        }
        let form = TrialForm(request.query)
        var stored: SubscriptionReport.Line?
        if let id = form.subscriptionID {
            stored = try await SubscriptionPages(console: self.console).report(place).lines
                .first { $0.subscription.id == id }
            guard stored != nil else {
                throw PageFailure.missing("The user has no subscription of this name in this database.")
            }
        }
        let schema = try await self.console.schema(of: place)
        var body: Markup = """
            <p class="lead">In \(place.databaseText)</p>
            \(self.form(form, stored, schema, place))
            """
        if stored != nil || form.isTyped {
            do {
                body += try await self.run(form, stored, place)
            } catch let failure as PageFailure {
                body += Parts.notice("\(failure.text)", isError: true)
            }
        }
        let title = form.subscriptionID.map { "Dry run of \($0)" } ?? "Try out a subscription"
        return self.console.page(title, request, place: place, section: .subscriptions, body)
    }

    // MARK: The run

    private func run(
        _ form: TrialForm,
        _ stored: SubscriptionReport.Line?,
        _ place: Place
    ) async throws -> Markup {
        let subscription =
            try stored?.subscription
            ?? form.subscription(nowMilliseconds: self.console.configuration.now())
        let reader = try await self.console.reader(of: place)
        let zone = form.zone.map { ZoneID(zoneName: $0) } ?? subscription.zone
        let read = SubscriptionTrialRead(
            subscription,
            savedPosition: stored?.savedPosition,
            zone: zone,
            limit: form.limit
        )
        let begin = ContinuousClock.now
        let trial: SubscriptionTrial
        do throws(StoreError) {
            trial = try await reader.tryOut(read)
        } catch {
            throw PageFailure(error, doing: "The subscription cannot be tried")
        }
        let taken = ContinuousClock.now - begin
        let fires = trial.lines.count { $0.verdict == .fires }
        let unknown = trial.lines.count { $0.verdict == .unknown }
        let whole: Markup =
            trial.isComplete ? "These are all." : "There are earlier ones, which were not looked at."
        let open: Markup =
            unknown == 0 ? "" : " For \(Shown.count(unknown, "deletion")) nobody can say any more."
        return """
            <p>It would have fired for <strong>\(Shown.number(fires)) of \(Shown.count(trial.lines.count, "change"))</strong>.\(open) \(whole)</p>
            \(self.cost(of: trial, taken))
            \(Parts.table(
                caption: "The last changes in \(zone.map { "the zone \(Shown.text($0.zoneName)) of " })\(place.databaseText), the newest first",
                columns: ["Record", "Type", "Change", "At", "Fires", "Why"],
                rows: trial.lines.map { self.row($0, place) },
                empty: "Nothing has changed there.",
                isRowList: true
            ))
            <p class="hint">A record counts with its last change, as it is now. A zone or a database fires once for all
            that a transaction changes in it.</p>
            """
    }

    private func cost(of trial: SubscriptionTrial, _ taken: Duration) -> Markup {
        let milliseconds =
            Double(taken.components.attoseconds) / 1e15 + Double(taken.components.seconds) * 1e3
        return """
            <p class="cost">Read \(Shown.count(trial.changesRead, "change")), \
            \(Shown.count(trial.recordsRead, "record")), \(Shown.count(trial.comparisons, "comparison")), \
            in \(String(format: "%.1f", milliseconds)) ms</p>
            """
    }

    private func row(_ line: SubscriptionTrial.Line, _ place: Place) -> [Markup] {
        let record: Markup =
            line.event == .deletion
            ? Shown.text(line.id.recordName) : RecordLink.markup(line.id, in: place)
        let event: Markup =
            switch line.event {
            case .creation: "created"
            case .update: "saved"
            case .deletion: "<span class=\"deleted\">deleted</span>"
            }
        let verdict: Markup =
            switch line.verdict {
            case .fires: "<span class=\"state good\">yes</span>"
            case .doesNotFire: "<span class=\"state open\">no</span>"
            case .unknown: "<span class=\"state open\">unknown</span>"
            }
        return [
            record, Shown.text(line.recordType), event,
            line.modifiedMilliseconds.map { Shown.time(milliseconds: $0) } ?? "", verdict,
            Shown.text(line.why),
        ]
    }

    // MARK: The form

    private func form(
        _ form: TrialForm,
        _ stored: SubscriptionReport.Line?,
        _ schema: SchemaDocument,
        _ place: Place
    ) -> Markup {
        let subject: Markup =
            stored.map { line -> Markup in
                """
                <p>Fires for \(SubscriptionWords.markup(line.subscription.kind)).</p>
                \(Parts.hidden("subscription", line.subscription.id))
                """
            } ?? self.typed(form, schema, place)
        return """
            <form class="query" method="get" action="\(place.url(.subscriptions, "/trial").path)" aria-label="Subscription">
            \(place.hiddenFields)
            \(subject)
            <label>Zone
            <input name="zone" value="\(form.zone ?? "")" placeholder="\(stored?.subscription.zone?.zoneName ?? "all")" autocomplete="off" spellcheck="false">
            </label>
            <label>Last changes
            <input name="last" type="number" min="1" max="\(SubscriptionTrial.linesMax)" value="\(form.limit)">
            </label>
            <p class="actions"><button type="submit">Run</button>
            <a href="\(place.url(.subscriptions))">All subscriptions</a></p>
            </form>
            """
    }

    private func typed(_ form: TrialForm, _ schema: SchemaDocument, _ place: Place) -> Markup {
        let kinds = TrialForm.Kind.allCases.filter { $0.isPossible(in: place.scope) }.map {
            Parts.option($0.rawValue, $0.title, isSelected: $0 == form.kind)
        }
        let types = schema.recordTypes.filter { $0.name != UserRecord.type }.prefix(ConsolePages.rowsMax)
            .map { Parts.option($0.name, $0.name, isSelected: $0.name == form.type) }
        let events = TrialForm.events.map { event -> Markup in
            let checked: Markup = form.firesOn.contains(event.value) ? " checked" : ""
            return """
                <label class="check"><input type="checkbox" name="on" value="\(event.name)"\(checked)> \(event.title)</label>
                """
        }
        return """
            <label>Fires for
            <select name="kind" data-filter>\(kinds)</select>
            </label>
            <label>Record type
            <select name="type"><option value="">all</option>\(types)</select>
            </label>
            <label class="wide">Condition of a query, in the format language of NSPredicate
            <input name="predicate" value="\(form.predicate ?? "")" placeholder="TRUEPREDICATE" autocomplete="off" spellcheck="false">
            </label>
            <fieldset class="checks"><legend>Events of a query</legend>\(events)</fieldset>
            """
    }
}
