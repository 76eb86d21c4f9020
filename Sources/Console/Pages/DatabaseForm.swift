import RecordModel
import RecordStore

/// The choice of a database, which many pages have.
extension ConsolePages {
    /// A form that leads to the same page of another database.
    func databaseForm(
        action: String,
        _ place: Place,
        users: [String],
        keeping kept: [PageURL.Item] = []
    ) -> Markup {
        let scopes = DatabaseScope.all.map {
            Parts.option($0.name, "\($0.name) database", isSelected: $0 == place.scope)
        }
        let keeping = kept.map { Parts.hidden($0.name, $0.value) }
        return """
            <form class="database" method="get" action="\(action)">
            \(keeping)
            <label>Database <select name="database">\(scopes)</select></label>
            <label>User
            <input name="user" list="users" value="\(place.user ?? "")" placeholder="none: as an operator" autocomplete="off" spellcheck="false">
            </label>
            \(Parts.choices("users", Array(users.prefix(Self.rowsMax))))
            <button type="submit">Go</button>
            </form>
            """
    }

    /// The same, with the names of the container's users.
    func databaseForm(
        action: String,
        _ place: Place,
        keeping kept: [PageURL.Item] = []
    ) async throws -> Markup {
        let directory = self.store.directory
        let container = place.container
        let users = try await self.blocking { try directory.users(ofContainer: container) }
        return self.databaseForm(action: action, place, users: users.map(\.name), keeping: kept)
    }
}
