import HTTPTypes
import Hummingbird

/// The paths of changes, of dry runs, and of files of records.
struct ChangeRoutes: Sendable {
    let pages: ConsolePages

    private static let place = "/c/:container/:environment"

    /// Pages that are read.
    static var pages: [ConsoleRoutes.Route] {
        [
            .init(path: place + "/subscriptions/trial") {
                try await SubscriptionTrialPages(console: $0).trial($1)
            }, .init(path: place + "/audit") { try await AuditPages(console: $0).audit($1) },
            .init(path: place + "/schema/edit") { try await SchemaChangePages(console: $0).edit($1) },
            .init(path: place + "/schema/deploy") { try await SchemaChangePages(console: $0).deploy($1) },
            .init(path: place + "/schema/reset") { try await SchemaChangePages(console: $0).reset($1) },
            .init(path: place + "/users/user") { try await UserPages(console: $0).user($1) },
            .init(path: place + "/users/add") { try await UserPages(console: $0).add($1) },
            .init(path: place + "/users/delete") { try await UserPages(console: $0).delete($1) },
            .init(path: place + "/zones/delete") { try await ZoneDeletionPages(console: $0).delete($1) },
            .init(path: place + "/share") { try await SharePages(console: $0).share($1) },
            .init(path: place + "/share/begin") { try await SharePages(console: $0).begin($1) },
            .init(path: place + "/share/remove") { try await SharePages(console: $0).remove($1) },
            .init(path: place + "/share/end") { try await SharePages(console: $0).end($1) },
            .init(path: place + "/records/import") { try await ImportPages(console: $0).begin($1) },
        ]
    }

    private typealias Make = @Sendable (ConsolePages, PageRequest) async throws -> Response

    func add(to group: RouterGroup<ConsoleContext>) {
        self.post("/schema/review", to: group) { try await SchemaChangePages(console: $0).review($1) }
        self.post("/schema/save", to: group) { try await SchemaChangePages(console: $0).save($1) }
        self.post("/schema/deploy", to: group) { try await SchemaChangePages(console: $0).makeDeploy($1) }
        self.post("/schema/reset", to: group) { try await SchemaChangePages(console: $0).makeReset($1) }
        self.post("/zones/delete", to: group) { try await ZoneDeletionPages(console: $0).makeDelete($1) }
        for action in UserAction.allCases {
            self.post("/users/" + action.rawValue, to: group) { try await action.make($1, $0) }
        }
        for action in ShareAction.allCases {
            self.post("/share/" + action.rawValue, to: group) { try await action.make($1, $0) }
        }
        self.post("/records/import", to: group) { try await ImportPages(console: $0).take($1) }
        self.post("/records/import/commit", to: group) { try await ImportPages(console: $0).commit($1) }
        self.addFiles(to: group)
    }

    /// Adds the path of a change; the response to a failure is a page of its place.
    private func post(_ path: String, to group: RouterGroup<ConsoleContext>, _ make: @escaping Make) {
        group.post(RouterPath(Self.place + path)) { [pages] request, context in
            let form = try await ConsoleRouter.form(request, context)
            let page = try ConsoleRouter.pageRequest(request, context, form: form)
            do {
                return try await make(pages, page)
            } catch let failure as PageFailure {
                return ConsoleRouter.response(await pages.failed(failure, page), status: failure.status)
            }
        }
    }

    /// Adds the paths for exported and imported files, which are not kept in memory.
    private func addFiles(to group: RouterGroup<ConsoleContext>) {
        group.get(RouterPath(Self.place + "/records/export")) { [pages] request, context in
            let page = try ConsoleRouter.pageRequest(request, context, form: FormItems(""))
            return try await ExportPages(console: pages).export(page)
        }
        group.post(RouterPath(Self.place + "/records/import/file")) { [pages] request, context in
            let page = try ConsoleRouter.pageRequest(request, context, form: FormItems(""))
            guard page.session.admits(formSecret: request.headers[ResponseFields.formSecret]) else {
                throw PageFailure.otherOrigin
            }
            return try await ImportPages(console: pages).takeFile(request.body, page)
        }
    }
}
