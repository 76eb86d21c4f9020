import RecordModel
import RecordStore

/// The pages before any data: the start, and a container.
struct StartPages: Sendable {
    let console: ConsolePages

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
        let users = try await self.console.blocking { try directory.users(ofContainer: name) }
        let schema = try await self.console.schema(of: place)
        place.scope = .public
        place.user = nil
        let types = schema.recordTypes.filter { $0.name != UserRecord.type }
        let typeRows = types.prefix(ConsolePages.rowsMax).map { type -> [Markup] in
            let own = type.fields.filter { !$0.isSystem }
            return [
                "<a href=\"\(place.url(.records).adding("type", type.name))\">\(Shown.text(type.name))</a>",
                "\(Shown.number(own.count))", "\(own.prefix(12).map(\.name).joined(separator: ", "))",
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
            "Records of a database",
            id: "database",
            self.console.databaseForm(action: place.url(.records).path, place, users: users.map(\.name))
        )
        let table = Parts.table(
            caption: "Record types in \(place.environment.name)",
            columns: ["Type", "Fields", "Names"],
            rows: typeRows,
            empty: "The schema has no types yet. In development the first save of a record makes them.",
            isRowList: true
        )
        return self.console.page(place.container, request, place: place, "\(facts)\(open)\(table)")
    }
}
