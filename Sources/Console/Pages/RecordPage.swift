import RecordJSON
import RecordModel
import RecordStore

/// A record with everything around it.
struct RecordPages: Sendable {
    let console: ConsolePages

    func record(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        let reader = try await self.console.reader(of: place)
        let record = try await self.console.found(request, reader)
        let schema = try await self.console.schema(of: place)
        let people = try await self.console.people(of: place)
        let id = record.id
        let ancestors = await self.ancestors(of: record, reader)
        let share = await SharePages.share(covering: record, ancestors, place, reader)
        let body: Markup = """
            <p class="lead">\(Shown.text(record.recordType)) in the zone \(Shown.text(id.zone.zoneName)) of \(place.databaseText)</p>
            \(self.links(of: record, share, place))
            \(Parts.section("Fields", id: "fields", self.fields(of: record, schema[record.recordType], place)))
            \(Parts.section("System fields", id: "system", self.systemFields(of: record, people)))
            \(Parts.section("Family", id: "family", try await self.family(of: record, ancestors, schema, place, reader)))
            \(record.body.share.map { self.sharing($0, of: record, people, place) })
            \(try await self.explained(record.id, people, place, reader))
            \(self.copies(of: record))
            """
        return self.console.page(id.recordName, request, place: place, section: .records, body)
    }

    /// A record has a modifier, so it is edited as a user.
    private func links(of record: Record, _ covering: Record?, _ place: Place) -> Markup {
        let share = SharePages(console: self.console).link(of: record, covering, place)
        guard self.console.configuration.save != nil else {
            return share.isEmpty ? "" : "<p class=\"pages\">\(share)</p>"
        }
        guard place.user != nil else {
            return "<p class=\"hint screen\">To edit the record, choose a user to act as.</p>"
        }
        let url = PageURL(place.url(named: "edit").path, place.recordURL(record.id).items)
        return "<p class=\"pages\"><a data-edit href=\"\(url)\">Edit</a> \(share)</p>"
    }

    // MARK: Fields

    private func fields(of record: Record, _ definition: RecordTypeDefinition?, _ place: Place) -> Markup {
        let base = place.recordURL(record.id)
        // The fields of a share are in its own table.
        let fields = record.body.fields.filter { $0.name != ShareRecord.contentsField }
        let rows = fields.map { field -> [Markup] in
            let items = base.items + [PageURL.Item("field", field.name)]
            let whole = PageURL(place.url(named: "value").path, items)
            let value: Markup =
                field.isEncrypted
                ? ValueMarkup.encrypted(field)
                : ValueMarkup.markup(field.value, of: record, in: place, whole: whole) { asset in
                    self.asset(asset, of: record, place)
                }
            return [Shown.text(field.name), "\(self.type(of: field, definition))", value]
        }
        return Parts.table(
            caption: "\(Shown.count(rows.count, "field")), \(Shown.bytes(Int64(record.body.bytes.count)))",
            columns: ["Field", "Type", "Value"],
            rows: rows,
            empty: "The record has no fields of its own."
        )
    }

    private func type(of field: Field, _ definition: RecordTypeDefinition?) -> String {
        definition?[field.name]?.typeAndIndexesText ?? field.value.type.schemaName
    }

    private func asset(_ asset: Asset, of record: Record, _ place: Place) -> Markup {
        let base = place.recordURL(record.id)
        let url = PageURL(
            place.url(named: "asset").path,
            base.items + [PageURL.Item("sha256", asset.hexadecimal)]
        )
        let preview: Markup =
            asset.size <= AssetPreview.bytesMax
            ? "<a class=\"script\" href=\"\(url.adding("preview", "1"))\" data-previews>Preview</a>" : ""
        return """
            <a href="\(url)" download>Download \(Shown.bytes(asset.size))</a> \(preview)
            <code class="hash">\(asset.hexadecimal)</code>
            """
    }

    private func systemFields(of record: Record, _ people: People) -> Markup {
        let system = record.system
        return Parts.list([
            ("Name", Shown.text(record.id.recordName)),
            ("Change tag", "<code>\(record.changeTag)</code>"),
            (
                "Created",
                "\(Shown.time(milliseconds: system.createdMilliseconds)) by \(people.author(system.createdBy))"
            ),
            (
                "Modified",
                "\(Shown.time(milliseconds: system.modifiedMilliseconds)) by \(people.author(system.modifiedBy))"
            ),
            ("Zone", Shown.text(record.id.zone.zoneName)),
        ])
    }

    // MARK: Access

    /// The participants of a share.
    private func sharing(_ share: Share, of record: Record, _ people: People, _ place: Place) -> Markup {
        let what: Markup =
            share.root.map { root -> Markup in
                RecordLink.markup(RecordID(zone: record.id.zone, recordName: root), in: place)
            } ?? "the whole zone"
        let answer = PageURL(place.url(named: "share").path, place.recordURL(record.id).items)
        let requests: Markup = """
            <p>Ask for access: \(ShareWords.requesters(of: share, people)). <a href="\(answer)">Answer them</a></p>
            """
        let body: Markup = """
            <p>Shares \(what). Anybody with the URL may: \(ShareWords.text(of: share.publicPermission)).</p>
            \(ShareWords.table(of: share, people))
            \(share.requesters.isEmpty ? "" : requests)
            """
        return Parts.section("Share", id: "share", body)
    }

    // MARK: Copies

    private func copies(of record: Record) -> Markup {
        // A page holds at most so much of one record, once more for each form.
        guard record.body.bytes.count <= 256 * 1_024 else {
            return "<p class=\"hint\">The record is too large to be shown as JSON or Swift.</p>"
        }
        let json = FieldsText.visible(String(decoding: RecordJSON.text(of: record), as: UTF8.self))
        return """
            \(Parts.copied("As JSON, as tidemark records prints it", id: "json", json))
            \(Parts.copied("As Swift", id: "swift", RecordSwift.text(of: record)))
            """
    }
}
