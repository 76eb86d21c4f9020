import Foundation
import Hummingbird
import RecordModel
import RecordStore
import StorageContract

/// Changing schemas: the text of development, a deploy to production, and a reset of development.
///
///     edit ─► review ─► save to development
///     deploy (difference, counts, the name typed) ─► production
///     reset (counts, the name typed) ─► development
struct SchemaChangePages: Sendable {
    let console: ConsolePages

    private var changes: Changes { Changes(console: self.console) }

    // MARK: On the page of the schema

    /// Links to changes, and the indexes that are not complete.
    func head(_ place: Place) async throws -> Markup {
        "\(self.links(place))\(try await self.builds(place))"
    }

    private func links(_ place: Place) -> Markup {
        guard self.changes.areOffered else { return "" }
        let development = Self.place(place, .development)
        let production = Self.place(place, .production)
        return """
            <p class="pages"><a data-edit href="\(development.url(.schema, "/edit"))">Edit development</a>
            <a href="\(production.url(.schema, "/deploy"))">Deploy to production</a>
            <a href="\(development.url(.schema, "/reset"))">Reset development</a></p>
            """
    }

    private static func place(_ place: Place, _ environment: RecordModel.Environment) -> Place {
        var other = place
        other.environment = environment
        return other
    }

    private func builds(_ place: Place) async throws -> Markup {
        let store = self.console.store
        let (container, environment) = (place.container, place.environment)
        let found = try await self.console.blocking {
            let builds = try store.schemas.indexBuilds(ofContainer: container, environment: environment)
            // Numbers of records are the whole store's.
            let records =
                builds.isEmpty
                ? 0
                : try store.directory.containers().reduce(into: Int64(0)) { sum, name in
                    sum += try store.directory.usage(ofContainer: name).total.records
                }
            return (builds: builds, records: records)
        }
        guard !found.builds.isEmpty else { return "" }
        let rows = found.builds.prefix(ConsolePages.rowsMax).map { build -> [Markup] in
            let most = max(found.records, build.nextRecord, 1)
            return [
                Shown.text("\(build.recordType).\(build.field)"),
                """
                <progress max="\(most)" value="\(build.nextRecord)" aria-label="Progress of the index"></progress>
                records numbered below \(Shown.number(build.nextRecord)) are done
                """,
            ]
        }
        let table = Parts.table(
            caption:
                "Indexes that are being built; the store has \(Shown.count(found.records, "record"))",
            columns: ["Index", "Progress"],
            rows: Array(rows)
        )
        let body: Markup = """
            \(table)
            <p>A query that needs one of them is told to come back. <a href="\(place.url(.schema))">Look again</a></p>
            """
        return Parts.section("Index builds", id: "builds", body)
    }

    // MARK: The text of development

    func edit(_ request: PageRequest) async throws -> Page {
        let place = try self.developmentPlace(request)
        let text = try await self.console.schema(of: place).text
        return self.editor(text, nil, place, request)
    }

    private func editor(_ text: String, _ error: SchemaError?, _ place: Place, _ request: PageRequest) -> Page
    {
        let fault = error.map { SchemaFault(error: $0, text: text).markup } ?? ""
        let position: Markup =
            error.map { " data-line=\"\($0.position.line)\" data-column=\"\($0.position.column)\"" } ?? ""
        let form: Markup = """
            \(fault)
            <form class="query document" method="post" action="\(place.url(.schema, "/review"))">
            \(Parts.hidden("secret", request.session.formSecret))
            <label class="wide">The schema of development in the CloudKit Schema Language
            <textarea name="schema" rows="30" data-filter spellcheck="false"\(position)>\n\(text)</textarea>
            </label>
            <p class="actions"><button type="submit">Review the changes</button>
            <a href="\(place.url(.schema))">Back to the schema</a></p>
            </form>
            """
        return self.page("Edit the schema of development", request, place, form)
    }

    func review(_ request: PageRequest) async throws -> Response {
        let place = try self.developmentPlace(request)
        let text = self.text(request)
        let document: SchemaDocument
        do throws(SchemaError) {
            document = try SchemaParser.parse(text)
        } catch {
            return ConsoleRouter.response(self.editor(text, error, place, request), status: .badRequest)
        }
        let schemas = self.console.store.schemas
        let difference = try await self.console.blocking {
            try schemas.preview(.replaceDevelopment(document), inContainer: place.container)
        }
        guard !difference.isEmpty else {
            return ConsoleRouter.response(
                self.page(
                    "Nothing to save",
                    request,
                    place,
                    "<p>Development has this schema. <a href=\"\(place.url(.schema))\">Back to the schema</a></p>"
                )
            )
        }
        let body: Markup = """
            <p>Development would change so:</p>
            \(DifferenceMarkup.list(difference))
            \(Changes.form(
                "Save to development",
                action: place.url(.schema, "/save"),
                request,
                place: place,
                "<textarea name=\"schema\" hidden readonly>\n\(text)</textarea>"
            ))
            <p class="screen"><a href="\(place.url(.schema))">Back to the schema</a></p>
            """
        return ConsoleRouter.response(self.page("Review the changes", request, place, body))
    }

    func save(_ request: PageRequest) async throws -> Response {
        let place = try self.developmentPlace(request)
        let document: SchemaDocument
        do throws(SchemaError) {
            document = try SchemaParser.parse(self.text(request))
        } catch {
            throw PageFailure.invalid("\(error).")
        }
        try await self.changes.make(.schema(.replaceDevelopment(document)), in: place)
        return Changes.lead(to: place.url(.schema))
    }

    /// The text of the form, with the line ends of files.
    private func text(_ request: PageRequest) -> String {
        (request.form["schema"] ?? "").replacingOccurrences(of: "\r\n", with: "\n")
    }

    // MARK: Production

    func deploy(_ request: PageRequest) async throws -> Page {
        let place = try self.place(of: request, in: .production)
        let (schemas, directory) = (self.console.store.schemas, self.console.store.directory)
        let (difference, usage) = try await self.console.blocking {
            (
                try schemas.preview(.deploy, inContainer: place.container),
                try directory.usage(ofContainer: place.container)
            )
        }
        guard !difference.isEmpty else {
            return self.page(
                "Nothing to deploy",
                request,
                place,
                "<p>Production has the same schema as development. <a href=\"\(place.url(.schema))\">Back to the schema</a></p>"
            )
        }
        let affected = self.affected(usage, .production)
        let body: Markup = """
            <p>Production of \(Shown.text(place.container)) would change so, and what is added stays:</p>
            \(DifferenceMarkup.list(difference))
            <p>Production has \(affected). Indexes on existing records are built in the background, from all records of
            their types.</p>
            \(Changes.form(
                "Deploy to production",
                action: place.url(.schema, "/deploy"),
                request,
                place: place,
                confirming: place.container,
                ""
            ))
            <p class="screen"><a href="\(place.url(.schema))">Back to the schema</a></p>
            """
        return self.page("Deploy to production", request, place, body)
    }

    func makeDeploy(_ request: PageRequest) async throws -> Response {
        let place = try self.place(of: request, in: .production)
        try Changes.checkConfirmed(request, place, confirming: place.container)
        try await self.changes.make(.schema(.deploy), in: place)
        return Changes.lead(to: place.url(.schema))
    }

    private func affected(_ usage: ContainerUsage, _ environment: RecordModel.Environment) -> Markup {
        let databases = usage.databases.filter { $0.environment == environment && $0.amount.records > 0 }
        let records = databases.reduce(0) { $0 + $1.amount.records }
        return """
            <strong>\(Shown.count(records, "record"))</strong> in \(Shown.count(databases.count, "database"))
            """
    }

    // MARK: Reset

    func reset(_ request: PageRequest) async throws -> Page {
        let place = try self.developmentPlace(request)
        let directory = self.console.store.directory
        let usage = try await self.console.blocking { try directory.usage(ofContainer: place.container) }
        let body: Markup = """
            <p>Development of \(Shown.text(place.container)) has \(self.affected(usage, .development)). A reset deletes
            them all with their zones and assets, and gives development the schema of production. Users and their
            tokens stay.</p>
            \(Changes.form(
                "Delete all data of development",
                action: place.url(.schema, "/reset"),
                request,
                place: place,
                confirming: place.container,
                ""
            ))
            <p class="screen"><a href="\(place.url(.schema))">Back to the schema</a></p>
            """
        return self.page("Reset development", request, place, body)
    }

    func makeReset(_ request: PageRequest) async throws -> Response {
        let place = try self.developmentPlace(request)
        try Changes.checkConfirmed(request, place, confirming: place.container)
        try await self.changes.make(.schema(.resetDevelopment), in: place)
        return Changes.lead(to: place.url(.schema))
    }

    // MARK: Places

    private func developmentPlace(_ request: PageRequest) throws(PageFailure) -> Place {
        try self.place(of: request, in: .development)
    }

    /// A page of another environment is none: its head would have the wrong colour.
    private func place(
        of request: PageRequest,
        in environment: RecordModel.Environment
    ) throws(PageFailure) -> Place {
        guard self.changes.areOffered else { throw .invalid("The console only reads.") }
        let place = try Place(request)
        guard place.environment == environment else {
            throw .missing("This page is one of \(environment.name).")
        }
        return place
    }

    private func page(_ title: String, _ request: PageRequest, _ place: Place, _ body: Markup) -> Page {
        self.console.page(title, request, place: place, section: .schema, body)
    }
}

/// An error in the text of a schema, with the line where it is.
struct SchemaFault {
    let error: SchemaError
    let text: String

    /// Characters of the line that are shown.
    private static let shownMax = 120

    var markup: Markup {
        let notice = Parts.notice("\(self.error.description).", isError: true)
        let lines = self.text.split(separator: "\n", omittingEmptySubsequences: false)
        let number = self.error.position.line
        guard lines.indices.contains(number - 1) else { return notice }
        let line = Array(lines[number - 1])
        let column = min(max(1, self.error.position.column), line.count + 1)
        // The part around the error, if the line is long.
        let start = max(0, min(column - 1 - Self.shownMax / 2, line.count - Self.shownMax))
        let shown = String(line[start..<min(line.count, start + Self.shownMax)])
            .replacingOccurrences(of: "\t", with: " ")
        let margin = "\(number) │ "
        let blanks = String(repeating: " ", count: margin.count + column - 1 - start)
        return """
            \(notice)
            <pre class="fault" tabindex="0">\(margin)\(Shown.text(shown))
            \(blanks)<span class="error">▲</span></pre>
            """
    }
}
