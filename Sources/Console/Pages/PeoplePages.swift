import RecordModel
import RecordStore
import StorageContract

/// Users, services and their keys, and what databases store.
struct PeoplePages: Sendable {
    let console: ConsolePages

    func users(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        let directory = self.console.store.directory
        let schemas = self.console.store.schemas
        let container = place.container
        let environment = place.environment
        let filter = request.query["name"]
        let after = request.query["after"] ?? ""
        let found = try await self.console.blocking {
            let users = try directory.users(ofContainer: container)
                .filter { $0.name > after && (filter.map($0.isFound) ?? true) }
            let shown = Array(users.prefix(ConsolePages.rowsMax))
            let roles = try shown.map {
                try schemas.roles(ofUser: $0.name, inContainer: container, environment: environment)
            }
            return (
                users: shown, roles: roles, isMore: users.count > shown.count,
                keys: try directory.serviceKeys(ofContainer: container)
            )
        }
        let rows = zip(found.users, found.roles).map { self.row(of: $0, roles: $1, place) }
        let next =
            found.isMore
            ? place.url(.users).adding("name", filter).adding("after", found.users.last?.name) : nil
        let body: Markup = """
            <form class="query" method="get" action="\(place.url(.users).path)" role="search">
            <label>Name, user record name or address
            <input name="name" data-filter value="\(filter ?? "")" autocomplete="off" spellcheck="false"></label>
            <button type="submit">Find</button>
            </form>
            \(self.addLink(place))
            \(Parts.table(
                caption: "Users and services, by name; roles in \(environment.name)",
                columns: ["Name", "Kind", "State", "Roles", "Contacts", "Created", "User record name"],
                rows: rows,
                empty: "There are none. Add one: \(Parts.command("tidemark user add NAME --container \(container)"))",
                isRowList: true
            ))
            \(Parts.next(next))
            \(Parts.section("Keys of services", id: "keys", self.keys(found.keys)))
            """
        return self.console.page("Users", request, place: place, section: .users, body)
    }

    private func addLink(_ place: Place) -> Markup {
        guard self.console.configuration.change != nil else { return "" }
        return "<p class=\"pages\"><a href=\"\(place.url(.users, "/add"))\">Add a user or a service</a></p>"
    }

    private func row(of user: DirectoryUser, roles: [String], _ place: Place) -> [Markup] {
        [
            "<a href=\"\(place.url(.users, "/user").adding("name", user.name))\">\(Shown.text(user.name))</a>",
            user.isService ? "service" : "user",
            UserState.markup(of: user),
            "\(roles.joined(separator: ", "))",
            Shown.cut(user.contacts.joined(separator: ", ")),
            Shown.time(milliseconds: user.createdMilliseconds),
            "<code>\(user.userRecordName)</code>",
        ]
    }

    private func keys(_ keys: [DirectoryServiceKey]) -> Markup {
        Parts.table(
            caption: "\(Shown.count(keys.count, "key"))",
            columns: ["Service", "Key", "State", "Acts for", "Created"],
            rows: keys.prefix(ConsolePages.rowsMax).map { key in
                [
                    Shown.text(key.serviceName), "<code>\(key.keyID)</code>",
                    key.isRevoked ? "<span class=\"deleted\">revoked</span>" : "good",
                    Shown.cut(key.onBehalfOf.joined(separator: ", ")),
                    Shown.time(milliseconds: key.createdMilliseconds),
                ]
            },
            empty: "No service has a key."
        )
    }

    // MARK: Usage

    func usage(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        let directory = self.console.store.directory
        let container = place.container
        let readQuotas = self.console.configuration.quotas
        let (usage, quotas) = try await self.console.blocking {
            (try directory.usage(ofContainer: container), readQuotas())
        }
        let ofEnvironment = usage.databases.filter { $0.environment == place.environment }
        let largest = ofEnvironment.sorted { $0.amount.bytes > $1.amount.bytes }
        let rows = largest.prefix(ConsolePages.rowsMax).map { database -> [Markup] in
            var own = place
            own.user = database.user
            own.scope = database.user == nil ? .public : .private
            let name: Markup = database.user.map { Shown.text($0) } ?? "the public database"
            return ["<a href=\"\(own.url(.zones))\">\(name)</a>"] + self.amounts(database.amount)
        }
        let cut: Markup =
            largest.count > ConsolePages.rowsMax
            ? "<p>The largest \(ConsolePages.rowsMax) of \(Shown.count(largest.count, "database")).</p>" : ""
        let body: Markup = """
            \(Parts.list([
                ("The container, with both environments", self.ofQuota(usage.total.bytes, quotas?.containerBytes)),
                ("Quota of each user, private", self.quota(quotas?.userBytes)),
                ("Records", "\(Shown.number(usage.total.records))"),
                ("Assets", "\(Shown.number(usage.total.assets))"),
            ]))
            \(Parts.table(
                caption: "Databases of \(place.environment.name), the largest first",
                columns: ["Database", "All", "Records", "Their fields", "Assets", "Their files", "Other rows"],
                rows: rows,
                isRowList: true
            ))
            \(cut)
            """
        return self.console.page("Usage", request, place: place, section: .usage, body)
    }

    /// An amount, and its part of a quota.
    private func ofQuota(_ bytes: Int64, _ quota: Int64?) -> Markup {
        guard let bound = quota, bound > 0 else { return "\(Shown.bytes(bytes))" }
        let part = Plot.Unit.share.text(Double(bytes) / Double(bound))
        return "\(Shown.bytes(bytes)), \(part) of \(Shown.bytes(bound))"
    }

    private func quota(_ quota: Int64?) -> Markup {
        guard let quota else { return "not known: no server has kept figures" }
        return quota > 0 ? "\(Shown.bytes(quota))" : "none"
    }

    private func amounts(_ amount: StoredAmount) -> [Markup] {
        [
            Shown.bytes(amount.bytes), Shown.number(amount.records), Shown.bytes(amount.recordBytes),
            Shown.number(amount.assets), Shown.bytes(amount.assetBytes), Shown.bytes(amount.rowBytes),
        ].map { text -> Markup in "<span class=\"number\">\(text)</span>" }
    }
}

extension DirectoryUser {
    /// Whether a text is a part of what the user is known by.
    fileprivate func isFound(_ text: String) -> Bool {
        ([self.name, self.userRecordName] + self.contacts).contains {
            $0.lowercased().contains(text.lowercased())
        }
    }
}
