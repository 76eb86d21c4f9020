/// The pages that are read, by path.
enum ConsoleRoutes {
    struct Route: Sendable {
        let path: String
        let make: @Sendable (ConsolePages, PageRequest) async throws -> Page
    }

    private static let place = "/c/:container/:environment"

    static let pages: [Route] = [
        Route(path: "/") { try await StartPages(console: $0).start($1) },
        Route(path: place) { try await StartPages(console: $0).container($1) },
        Route(path: place + "/records") { try await QueryPages(console: $0).query($1) },
        Route(path: place + "/records/fetch") { try await FetchPages(console: $0).fetch($1) },
        Route(path: place + "/records/changes") { try await ChangePages(console: $0).changes($1) },
        Route(path: place + "/records/snapshot") { try await ChangePages(console: $0).snapshot($1) },
        Route(path: place + "/record") { try await RecordPages(console: $0).record($1) },
        Route(path: place + "/edit") { try await EditPages(console: $0).edit($1) },
        Route(path: place + "/zones") { try await ZonePages(console: $0).zones($1) },
        Route(path: place + "/schema") { try await SchemaPages(console: $0).schemaPage($1) },
        Route(path: place + "/subscriptions") { try await SubscriptionPages(console: $0).subscriptions($1) },
        Route(path: place + "/users") { try await PeoplePages(console: $0).users($1) },
        Route(path: "/telemetry") { try await TelemetryPages(console: $0).overview($1) },
        Route(path: "/telemetry/:plot") { try await TelemetryPages(console: $0).one($1) },
        Route(path: "/logs") { try await LogPages(console: $0).log($1) },
        Route(path: "/logs/codes") { try await CodePages(console: $0).codes($1) },
        Route(path: "/backups") { try await BackupPages(console: $0).backups($1) },
        Route(path: place + "/usage") { try await PeoplePages(console: $0).usage($1) },
    ]
}
