import Foundation
import RecordJSON
import RecordModel
import RecordStore
import StorageContract

/// Records that a query finds, a page at a time, with what they cost.
struct QueryPages: Sendable {
    let console: ConsolePages

    /// The number of fields that are shown if the operator chose none.
    private static let columnsShown = 6
    /// The maximum time for a count.
    private static let countTimeout = Duration.seconds(5)

    func query(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        let schema = try await self.console.schema(of: place)
        let form = QueryForm(request.query)
        let definition = form.flatMap { schema[$0.type] }
        var body = try await self.console.recordsHead(place, request, current: "query")
        body +=
            QueryFormMarkup(
                place: place,
                schema: schema,
                form: form,
                definition: definition,
                zones: await self.console.zoneNames(of: place)
            ).markup
        if let form {
            do {
                body += try await self.results(of: form, definition, place, request)
            } catch let failure as PageFailure {
                body += Parts.notice("\(failure.text)", isError: true)
                if let definition { body += QueryAdvice.lines(for: form, definition, place) }
            }
        } else {
            body += self.types(of: schema, place)
        }
        return self.console.page("Records", request, place: place, section: .records, body)
    }

    /// The types of the schema, each with a link to its records.
    private func types(of schema: SchemaDocument, _ place: Place) -> Markup {
        let types = schema.recordTypes.filter { $0.name != UserRecord.type }.prefix(ConsolePages.rowsMax)
        guard !types.isEmpty else {
            return "<p class=\"empty\">The schema of this environment has no types yet.</p>"
        }
        let links = types.map { type -> Markup in
            "<a href=\"\(place.url(.records).adding("type", type.name))\">\(Shown.text(type.name))</a> "
        }
        return "<p>Choose a record type to see its records.</p><p class=\"pages\">\(links)</p>"
    }

    // MARK: Results

    private func results(
        of form: QueryForm,
        _ definition: RecordTypeDefinition?,
        _ place: Place,
        _ request: PageRequest
    ) async throws -> Markup {
        let isSortedHere = form.isSortedOnPage(definition)
        var asked = form
        if isSortedHere { asked.sort = nil }
        let query = try asked.query(
            definition: definition,
            nowMilliseconds: self.console.configuration.now()
        )
        let reader = try await self.console.reader(of: place)
        let columns = self.columns(of: form, definition)
        var read = QueryRead(query: query, zone: form.zone, desiredKeys: columns, limit: ConsolePages.rowsMax)
        if let cursor = request.query["cursor"] {
            guard let bytes = TokenText.bytes(cursor) else {
                throw PageFailure.invalid("The page is not known.")
            }
            read.resume = bytes
        }
        let begin = ContinuousClock.now
        let found: (records: [Record], end: QueryPageResult)
        do throws(StoreError) {
            found = try await reader.page(read)
        } catch {
            throw PageFailure(error, doing: "The query cannot be executed")
        }
        let taken = ContinuousClock.now - begin
        let url = place.url(.records)
        let here = PageURL(url.path, url.items + self.items(of: request, without: ["cursor", "count"]))
        let isMore = found.end.resume != nil
        let records =
            isSortedHere ? Self.sorted(found.records, isDescending: form.isDescending) : found.records
        let table = RecordsTable(place: place, columns: columns, showsZone: form.zone == nil).markup(
            records,
            caption: """
                \(Shown.count(records.count, "record"))\(" of more", if: isMore) in \(place.databaseText)
                """,
            empty: self.nothing(form, isMore: isMore, place)
        )
        let next = found.end.resume.map { here.setting("cursor", TokenText.text($0)) }
        let order: Markup = isSortedHere && isMore ? self.pageOrder(form, place) : ""
        return """
            <p class="paper">Query: \(Shown.text(form.words))</p>
            \(self.cost(of: found.end, query, taken))
            \(order)
            \(isMore || request.query["cursor"] != nil || request.query["count"] != nil ? try await self.count(query, form, reader, here, request) : "")
            \(table)
            \(Parts.next(next))
            \(ExportPages.links(from: "query", types: [form.type], isOneType: true, place, here.items))
            """
    }

    /// Records of one page by their last changes; of those that changed at once, by name.
    private static func sorted(_ records: [Record], isDescending: Bool) -> [Record] {
        records.sorted { left, right in
            let (one, other) = isDescending ? (right, left) : (left, right)
            let times = (one.system.modifiedMilliseconds, other.system.modifiedMilliseconds)
            return times.0 == times.1
                ? ExactName(left.id.recordName) < ExactName(right.id.recordName) : times.0 < times.1
        }
    }

    /// An order that holds for one page alone, and what it takes for all.
    private func pageOrder(_ form: QueryForm, _ place: Place) -> Markup {
        Parts.notice(
            """
            There are more records than this page has, and the order is that of the page alone: no index has the last
            changes. Add a condition, or <code>"\(SystemField.modTime.rawValue)" TIMESTAMP SORTABLE</code> to the type
            \(Shown.text(form.type)) on the page <a href="\(place.url(.schema))">Schema</a>.
            """
        )
    }

    /// Why a page has no records, and where there are some.
    private func nothing(_ form: QueryForm, isMore: Bool, _ place: Place) -> Markup {
        if isMore { return "No record of those that were read meets the conditions. The next page reads on." }
        guard form.conditions.isEmpty, form.predicate == nil else {
            return "No record meets the conditions."
        }
        return """
            There is no such record in \(place.databaseText). <a href="\(place.url(nil))">Databases that have records</a>
            """
    }

    /// The items of the page's query that are not the place's.
    private func items(of request: PageRequest, without names: Set<String>) -> [PageURL.Item] {
        let ours = [
            "type", "field", "test", "value", "predicate", "sort", "order", "columns", "zone", "owner",
        ]
        return ours.filter { !names.contains($0) }.flatMap { name in
            request.query.all(name).map { PageURL.Item(name, $0) }
        }
    }

    private func columns(of form: QueryForm, _ definition: RecordTypeDefinition?) -> [String] {
        if !form.columns.isEmpty { return Array(form.columns.prefix(30)) }
        return Array((definition?.fields ?? []).filter { !$0.isSystem }.map(\.name).prefix(Self.columnsShown))
    }

    private func cost(of page: QueryPageResult, _ query: Query, _ taken: Duration) -> Markup {
        let lines = page.plan.lines(sort: query.sort).map { line -> Markup in "<li>\(line)</li>" }
        let milliseconds =
            Double(taken.components.attoseconds) / 1e15 + Double(taken.components.seconds) * 1e3
        let read = """
            \(Shown.count(page.entriesRead, "index entry").replacing("entrys", with: "entries")), \
            \(Shown.count(page.recordsRead, "record")), \
            \(Shown.count(page.comparisons, "comparison"))
            """
        return """
            <details class="cost">
            <summary>Read \(read), in \(String(format: "%.1f", milliseconds)) ms</summary>
            <ol>\(lines)</ol>
            </details>
            """
    }

    /// The number of all that the query finds, if it was asked for.
    private func count(
        _ query: Query,
        _ form: QueryForm,
        _ reader: DatabaseReader,
        _ here: PageURL,
        _ request: PageRequest
    ) async throws -> Markup {
        guard request.query["count"] != nil else {
            return "<p class=\"screen\"><a href=\"\(here.setting("count", "all"))\">Count all</a></p>"
        }
        var read = QueryRead(query: query, zone: form.zone, isCount: true)
        let end = ContinuousClock.now + Self.countTimeout
        var count: Int64 = 0
        repeat {
            do throws(StoreError) {
                let page = try await reader.page(read).end
                count += page.count
                read.resume = page.resume
            } catch {
                throw PageFailure(error, doing: "The records cannot be counted")
            }
        } while read.resume != nil && ContinuousClock.now < end
        let least: Markup = read.resume == nil ? "" : "at least "
        return "<p>The query finds \(least)<strong>\(Shown.count(count, "record"))</strong>.</p>"
    }
}

/// The indexes that a schema lacks for a query.
enum QueryAdvice {
    /// The lines that make the fields of a query what it needs, in the form of a `.ckdb` file.
    static func lines(for form: QueryForm, _ definition: RecordTypeDefinition, _ place: Place) -> Markup {
        var lines: [String] = []
        for condition in form.conditions {
            let needed: IndexKinds = condition.test == .hasWords ? .searchable : .queryable
            if let line = Self.line(condition.field, needed, definition) { lines.append(line) }
        }
        if let sort = form.sort, let line = Self.line(sort, .sortable, definition) { lines.append(line) }
        if form.conditions.isEmpty, form.predicate == nil,
            definition[SystemField.recordID.rawValue]?.indexes.contains(.queryable) != true
        {
            lines.append("\"\(SystemField.recordID.rawValue)\" REFERENCE QUERYABLE")
        }
        let page: Markup = "the page <a href=\"\(place.url(.schema))\">Schema</a>"
        guard !lines.isEmpty else {
            return """
                <p class="hint">What the fields of \(definition.name) can be asked for is on \(page). Encrypted fields
                cannot be asked for at all.</p>
                """
        }
        return """
            <p>The schema permits it with these lines in the type \(definition.name), on \(page) or by
            <code>tidemark schema import</code>:</p>
            <pre>\(lines.joined(separator: ",\n"))</pre>
            """
    }

    private static func line(
        _ name: String,
        _ needed: IndexKinds,
        _ definition: RecordTypeDefinition
    ) -> String? {
        guard var field = definition[name], !field.indexes.contains(needed),
            IndexKinds.permitted(for: field.type, isEncrypted: field.isEncrypted).contains(needed)
        else { return nil }
        field.indexes.insert(needed)
        return "\(name) \(field.typeAndIndexesText)"
    }
}
