import RecordModel
import RecordStore
import StorageContract

/// The pages before any data: the start, and a container.
struct StartPages: Sendable {
    let console: ConsolePages

    /// Rows on the page of a container.
    private static let databasesShown = 10

    func start(_ request: PageRequest) async throws -> Page {
        let directory = self.console.store.directory
        let containers = try await self.console.blocking { try directory.containers() }
        let rows = containers.prefix(ConsolePages.rowsMax).map { container -> [Markup] in
            let links = Environment.allCases.map { environment -> Markup in
                let place = Place(container: container, environment: environment)
                return "<a class=\"\(environment.name)\" href=\"\(place.url(nil))\">\(environment.name)</a> "
            }
            return [Shown.text(container), "\(links)"]
        }
        let table = Parts.table(
            caption: "\(Shown.count(containers.count, "container"))",
            columns: ["Container", "Environments"],
            rows: rows,
            empty:
                "There is no container yet. Create one: <code>tidemark container create iCloud.org.example.app</code>",
            isRowList: true
        )
        let cut: Markup =
            containers.count > ConsolePages.rowsMax
            ? "<p>The first \(ConsolePages.rowsMax), by name.</p>" : ""
        return self.console.page("Containers", request, "\(table)\(cut)\(self.otherBrowser(request))")
    }

    private func otherBrowser(_ request: PageRequest) -> Markup {
        """
        <form method="post" action="/link">
        <input type="hidden" name="secret" value="\(request.session.formSecret)">
        <p>Another browser needs a link of its own. <button type="submit">Make a link</button></p>
        </form>
        """
    }

    /// A link for another browser.
    func newLink(_ request: PageRequest) -> Page {
        let path = ConsoleRouter.linkPath(self.console.sessions.newLink())
        return self.console.page(
            "A link for another browser",
            request,
            """
            <p>Open this path in the other browser, at the address of this one. It works once, for five
            minutes.</p>
            <p><code>\(path)</code></p>
            """
        )
    }

    /// The page that a browser shows for a moment when it comes with a link.
    func opened() -> Page {
        self.console.page("Welcome", nil, "<p>The console is open. <a href=\"/\">Go on</a></p>")
    }

    // MARK: A container

    func container(_ request: PageRequest) async throws -> Page {
        var place = try Place(request)
        let directory = self.console.store.directory
        let name = place.container
        let (users, usage) = try await self.console.blocking {
            (try directory.users(ofContainer: name), try directory.usage(ofContainer: name))
        }
        let schema = try await self.console.schema(of: place)
        place.scope = .public
        place.user = nil
        let environment = place.environment
        let databases = usage.databases.filter { $0.environment == environment }
        let types = schema.recordTypes.filter { $0.name != UserRecord.type }
        let typeRows = types.prefix(ConsolePages.rowsMax).map { type -> [Markup] in
            let own = type.fields.filter { !$0.isSystem }
            return [
                "<a href=\"\(place.url(.records).adding("type", type.name))\">\(Shown.text(type.name))</a>",
                Parts.number(Shown.number(own.count)),
                "\(own.prefix(12).map(\.name).joined(separator: ", "))",
            ]
        }
        let facts = Parts.list([
            (
                "Users",
                "<a href=\"\(place.url(.users))\">\(Shown.count(users.count { !$0.isService }, "user"))</a>"
            ),
            ("Record types", "<a href=\"\(place.url(.schema))\">\(Shown.count(types.count, "type"))</a>"),
        ])
        let open = Parts.section(
            "Databases",
            id: "database",
            """
            \(self.databases(databases, place))
            \(self.console.databaseForm(action: place.url(.records).path, place, users: users.map(\.name)))
            """
        )
        let table = Parts.table(
            caption:
                "Types of records in \(place.environment.name), with links to those of the public database",
            columns: ["Type", "Fields", "Names"],
            rows: typeRows,
            empty: environment == .production
                ? "Production has no types yet: a deploy of the schema of development brings them."
                : "The schema has no types yet. In development the first save of a record makes them.",
            isRowList: true
        )
        return self.console.page(
            place.container,
            request,
            place: place,
            "\(facts)\(open)\(Parts.section("Record types", id: "types", table))"
        )
    }

    /// The databases with the most records, so that the operator need not guess which users have data.
    private func databases(_ databases: [DatabaseUsage], _ place: Place) -> Markup {
        let largest = databases.sorted { $0.amount.records > $1.amount.records }
        let rows = largest.prefix(Self.databasesShown).map { database -> [Markup] in
            var own = place
            own.user = database.user
            own.scope = database.user == nil ? .public : .private
            let name: Markup =
                database.user.map { "private database of \(Shown.text($0))" } ?? "public database"
            return [
                "<a href=\"\(own.url(.records))\">\(name)</a>",
                Parts.number(Shown.number(database.amount.records)),
                Parts.number(Shown.bytes(database.amount.bytes)),
                """
                <a href="\(own.url(.zones))">Zones</a> <a href="\(own.url(.subscriptions))">Subscriptions</a>
                """,
            ]
        }
        let more: Markup =
            databases.count > Self.databasesShown
            ? "<p><a href=\"\(place.url(.usage))\">All \(Shown.count(databases.count, "database"))</a></p>"
            : ""
        let table = Parts.table(
            caption: "Databases in \(place.environment.name), those with most records first",
            columns: ["Database", "Records", "Size", "Also"],
            rows: rows,
            empty: "There is no database yet: the first sign-in of a user makes one.",
            isRowList: true
        )
        return "\(table)\(more)"
    }
}
