import Hummingbird
import RecordModel
import RecordStore

/// Changing a record: its fields as text, the differences, and what to do if another client was faster.
///
///     edit ─► review ─► save ─┬─► the record
///               ▲             └─(conflict)─► three columns ─┐
///               └──────────────── a merge to be edited ─────┘
struct EditPages: Sendable {
    let console: ConsolePages

    // MARK: Editing

    func edit(_ request: PageRequest) async throws -> Page {
        let (place, _) = try self.editor(of: request.query, request)
        let record = try await self.console.found(request, try await self.console.reader(of: place))
        let text = FieldsText.text(of: record.body)
        let hidden = record.body.fields.filter { $0.isEncrypted || $0.name.hasPrefix("_") }
        let rest: Markup =
            hidden.isEmpty
            ? ""
            : "<p class=\"hint\">Not shown, and left as they are: \(hidden.map(\.name).joined(separator: ", ")).</p>"
        let form = self.form(record.id, place, tag: record.changeTag, base: text, text: text, request)
        return self.page("Edit \(record.id.recordName)", request, place, "\(rest)\(form)")
    }

    /// The form that leads to a review.
    private func form(
        _ id: RecordID,
        _ place: Place,
        tag: String,
        base: String,
        text: String,
        _ request: PageRequest
    ) -> Markup {
        """
        <form class="query document" method="post" action="\(place.url(named: "edit/review").path)">
        \(self.hiddenFields(id, place, tag: tag, base: base, request))
        <label class="wide">Fields as JSON, each with its value and type; a field that is left out is removed
        <textarea name="text" rows="20" data-filter spellcheck="false">\(text)</textarea>
        </label>
        <p class="actions"><button type="submit">Review the changes</button>
        <a href="\(place.recordURL(id))">Back to the record</a></p>
        </form>
        """
    }

    private func hiddenFields(
        _ id: RecordID,
        _ place: Place,
        tag: String,
        base: String,
        _ request: PageRequest
    ) -> Markup {
        let items = place.recordURL(id).items.map { Parts.hidden($0.name, $0.value) }
        return """
            \(Parts.hidden("secret", request.session.formSecret))
            \(items)
            \(Parts.hidden("tag", tag))
            <textarea name="base" hidden readonly>\(base)</textarea>
            """
    }

    // MARK: Review

    func review(_ request: PageRequest) async throws -> Page {
        let (place, id) = try self.editor(of: request.form, request)
        let draft = try self.draft(request)
        let changes = FieldChanges(from: draft.base, to: draft.mine)
        guard !changes.lines.isEmpty else {
            return self.page(
                "Nothing to save",
                request,
                place,
                "<p>The fields are as they were. <a href=\"\(place.recordURL(id))\">Back to the record</a></p>"
            )
        }
        let rows = changes.lines.map { line in
            [Shown.text(line.name), self.cell(line.before), self.cell(line.after)]
        }
        let asks: Markup =
            place.environment == .production
            ? "<p><label class=\"check\"><input type=\"checkbox\" name=\"production\" value=\"yes\" required> Yes, change production</label></p>"
            : ""
        let body: Markup = """
            \(Parts.table(
                caption: "\(Shown.count(rows.count, "field")) of \(Shown.text(id.recordName)) would change, as \(Shown.text(place.user ?? ""))",
                columns: ["Field", "Before", "After"],
                rows: rows
            ))
            <form class="query" method="post" action="\(place.url(named: "edit/save").path)">
            \(self.hiddenFields(id, place, tag: request.form["tag"] ?? "", base: request.form["base"] ?? "", request))
            <textarea name="text" hidden readonly>\(request.form["text"] ?? "")</textarea>
            \(asks)
            <p class="actions"><button type="submit">Save</button>
            <a href="\(place.recordURL(id))">Back to the record</a></p>
            </form>
            """
        return self.page("Review the changes", request, place, body)
    }

    private func cell(_ value: FieldValue?) -> Markup {
        guard let value else { return "<span class=\"hint\">no value</span>" }
        return Shown.cut(ValueMarkup.line(value), to: 2_048)
    }

    // MARK: Saving

    func save(_ request: PageRequest) async throws -> Response {
        let (place, id) = try self.editor(of: request.form, request)
        guard let save = self.console.configuration.save, let user = place.user else {
            throw PageFailure.invalid("The console only reads.")
        }
        guard place.environment == .development || request.form["production"] == "yes" else {
            throw PageFailure.invalid("Production is changed only if the box says so.")
        }
        let draft = try self.draft(request)
        let reader = try await self.console.reader(of: place)
        let difference = FieldChanges(from: draft.base, to: draft.mine)
        guard let type = await self.type(of: id, reader) else {
            return ConsoleRouter.response(try await self.conflict(draft, id, place, request, reader))
        }
        let edit = RecordEdit(
            container: place.container,
            environment: place.environment,
            scope: place.scope,
            user: user,
            save: RecordSave(
                id: id,
                recordType: type,
                changeTag: request.form["tag"],
                changes: difference.body
            )
        )
        let changes = Changes(console: self.console)
        let words = "\(id.recordName) in the zone \(id.zone.zoneName)"
        let ticket = try changes.begin(
            "save \(words) as \(user)",
            in: place,
            sentence: "saved \(words) of \(place.container) \(place.environment.name) as \(user)"
        )
        switch await save(edit) {
        case .saved:
            changes.end(ticket, .done)
            return Response(status: .seeOther, headers: [.location: place.recordURL(id).text])
        case .conflict:
            changes.end(ticket, .refused, "Somebody else has saved the record, or deleted it.")
            return ConsoleRouter.response(
                try await self.conflict(draft, id, place, request, reader),
                status: .conflict
            )
        case .refused(let text):
            changes.end(ticket, .refused, text)
            throw PageFailure(.conflict, "Not saved", text)
        }
    }

    private func type(of id: RecordID, _ reader: DatabaseReader) async -> String? {
        guard case .record(let record)? = try? await reader.fetch([id]).first else { return nil }
        return record.recordType
    }

    // MARK: Conflicts

    /// The record before the edit, as another client saved it, and as the edit wants it.
    private func conflict(
        _ draft: Draft,
        _ id: RecordID,
        _ place: Place,
        _ request: PageRequest,
        _ reader: DatabaseReader
    ) async throws -> Page {
        guard case .record(let theirs)? = try? await reader.fetch([id]).first else {
            return self.page(
                "Deleted meanwhile",
                request,
                place,
                Parts.notice("Somebody has deleted the record. Nothing was saved.", isError: true)
            )
        }
        let shown = RecordBody(FieldsText.fields(of: theirs.body))
        let mine = FieldChanges(from: draft.base, to: draft.mine)
        let others = FieldChanges(from: draft.base, to: shown)
        let names = Set(mine.lines.map(\.name)).union(others.lines.map(\.name)).sorted()
        let rows = names.map { name -> [Markup] in
            [
                Shown.text(name), self.cell(draft.base.value(named: name)),
                self.cell(shown.value(named: name)),
                self.cell(draft.mine.value(named: name)),
            ]
        }
        let body: Markup = """
            \(Parts.notice("Somebody has saved the record since you read it. Nothing of yours was saved.", isError: true))
            \(Parts.table(
                caption: "Fields that either changed",
                columns: ["Field", "When you read it", "Theirs now", "Yours"],
                rows: rows
            ))
            <h2>Yours on top of theirs</h2>
            \(self.form(
                id,
                place,
                tag: theirs.changeTag,
                base: FieldsText.text(of: shown),
                text: FieldsText.text(of: mine.applied(to: shown)),
                request
            ))
            """
        return self.page("A conflict", request, place, body)
    }

    // MARK: Drafts

    private struct Draft {
        var base: RecordBody
        var mine: RecordBody
    }

    private func draft(_ request: PageRequest) throws(PageFailure) -> Draft {
        guard let base = request.form["base"], let text = request.form["text"], request.form["tag"] != nil
        else {
            throw .invalid("The form is not complete: open the page of the record again.")
        }
        return Draft(base: try FieldsText.body(of: base), mine: try FieldsText.body(of: text))
    }

    /// The record and its place, with a user who becomes the modifier.
    private func editor(
        of items: FormItems,
        _ request: PageRequest
    ) throws(PageFailure) -> (Place, RecordID) {
        var request = request
        request.query = items
        let place = try Place(request)
        guard self.console.configuration.save != nil else { throw .invalid("The console only reads.") }
        guard place.user != nil else { throw .invalid("A record has a modifier: choose a user first.") }
        guard let name = items["name"] else { throw .invalid("The page names no record.") }
        return (place, RecordID(zone: self.console.zone(items), recordName: name))
    }

    private func page(_ title: String, _ request: PageRequest, _ place: Place, _ body: Markup) -> Page {
        self.console.page(title, request, place: place, section: .records, body)
    }
}

extension RecordBody {
    fileprivate func value(named name: String) -> FieldValue? {
        self.fields.first { $0.name == name }?.value
    }
}
