import Hummingbird

/// Paths with responses other than pages to read: files, events, and the outcomes of forms.
extension ConsoleRouter {
    private typealias Make = @Sendable (ConsolePages, PageRequest) async throws -> Response

    func addOthers(to group: RouterGroup<ConsoleContext>) {
        let place = "/c/:container/:environment"
        self.get(place + "/changes/events", to: group) { try await ChangePages(console: $0).changeEvents($1) }
        self.get(place + "/asset", to: group) { try await Downloads(console: $0).asset($1) }
        self.get(place + "/value", to: group) { try await Downloads(console: $0).value($1) }
        self.get(place + "/schema.ckdb", to: group) { try await Downloads(console: $0).schemaFile($1) }
        self.post(place + "/edit/review", to: group) {
            Self.response(try await EditPages(console: $0).review($1))
        }
        self.post(place + "/edit/save", to: group) { try await EditPages(console: $0).save($1) }
        self.get("/logs/events", to: group) { try await LogPages(console: $0).events($1) }
        self.get("/backups/events", to: group) { try await BackupPages(console: $0).events($1) }
        self.post("/backups", to: group) { try await BackupPages(console: $0).make($1) }
        self.post("/leave", to: group) { $0.leave($1) }
        self.post("/link", to: group) { Self.response(StartPages(console: $0).newLink($1)) }
    }

    private func get(_ path: String, to group: RouterGroup<ConsoleContext>, _ make: @escaping Make) {
        group.get(RouterPath(path)) { [pages] request, context in
            try await make(pages, Self.pageRequest(request, context, form: FormItems("")))
        }
    }

    /// Adds the path of a form; the response to a failure is a page with a link to go on.
    private func post(_ path: String, to group: RouterGroup<ConsoleContext>, _ make: @escaping Make) {
        group.post(RouterPath(path)) { [pages] request, context in
            let form = try await Self.form(request, context)
            let page = try Self.pageRequest(request, context, form: form)
            do {
                return try await make(pages, page)
            } catch let failure as PageFailure {
                return Self.response(await pages.failed(failure, page), status: failure.status)
            }
        }
    }
}
