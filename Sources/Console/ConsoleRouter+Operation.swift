import Hummingbird

extension ConsoleRouter {
    /// Adds what is no page, of the pages about the server itself.
    func addOperation(to inside: RouterGroup<ConsoleContext>) {
        inside.get("/logs/events") { request, context in
            try await LogPages(console: self.pages).events(
                Self.pageRequest(request, context, form: FormItems(""))
            )
        }
        inside.get("/backups/events") { request, context in
            try await BackupPages(console: self.pages).events(
                Self.pageRequest(request, context, form: FormItems(""))
            )
        }
        inside.post("/backups") { request, context in
            let form = try await Self.form(request, context)
            return try await BackupPages(console: self.pages).make(
                try Self.pageRequest(request, context, form: form)
            )
        }
    }
}
