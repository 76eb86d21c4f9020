import Hummingbird
import RecordModel
import RecordStore
import StorageContract

/// One user or service, and what an operator can change about them.
struct UserPages: Sendable {
    let console: ConsolePages

    private var changes: Changes { Changes(console: self.console) }

    /// The contents of a user's pages.
    private struct Subject: Sendable {
        var user: DirectoryUser
        var roles: [String]
        /// Roles of the schema that they do not have.
        var otherRoles: [String]
        var keys: [DirectoryServiceKey]
    }

    // MARK: The page

    func user(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        let subject = try await self.subject(request, place)
        let user = subject.user
        var body: Markup = """
            \(self.facts(subject, place))
            \(self.records(user, place))
            """
        if self.changes.areOffered {
            body += Parts.section(
                "Roles in \(place.environment.name)",
                id: "roles",
                self.roles(subject, place, request)
            )
            body +=
                user.isService
                ? Parts.section("Keys", id: "keys", self.keys(subject, place, request))
                : self.person(subject, place, request)
            body += Parts.section("Delete", id: "delete", self.deleteLink(user, place))
        }
        return self.page(user.name, request, place, body)
    }

    private func subject(_ request: PageRequest, _ place: Place) async throws -> Subject {
        guard let name = request.query["name"] else { throw PageFailure.invalid("The page names no user.") }
        let (directory, schemas) = (self.console.store.directory, self.console.store.schemas)
        let (container, environment) = (place.container, place.environment)
        let found = try await self.console.blocking { () -> Subject? in
            guard let user = try directory.users(ofContainer: container).first(where: { $0.name == name })
            else { return nil }
            let roles = try schemas.roles(
                ofUser: name,
                inContainer: container,
                environment: environment
            )
            let all = try schemas.schema(ofContainer: container, environment: environment).roles
            let keys = try directory.serviceKeys(ofContainer: container).filter { $0.serviceName == name }
            return Subject(
                user: user,
                roles: roles,
                otherRoles: all.filter { !roles.contains($0) },
                keys: keys
            )
        }
        guard let found else {
            throw PageFailure.missing("The container has no user or service of this name.")
        }
        return found
    }

    private func facts(_ subject: Subject, _ place: Place) -> Markup {
        let user = subject.user
        return Parts.list([
            ("Kind", user.isService ? "service" : "user"),
            ("State", UserState.badge(of: user)), ("User record name", "<code>\(user.userRecordName)</code>"),
            ("Created", Shown.time(milliseconds: user.createdMilliseconds)),
            ("Contacts", user.contacts.isEmpty ? "none" : Shown.cut(user.contacts.joined(separator: ", "))),
        ])
    }

    private func records(_ user: DirectoryUser, _ place: Place) -> Markup {
        var own = place
        own.user = user.name
        own.scope = user.isService ? .public : .private
        return """
            <p class="pages"><a href="\(own.url(.records))">Records</a>
            <a href="\(own.url(.subscriptions))">Subscriptions</a></p>
            """
    }

    private func form(
        _ title: String,
        _ action: UserAction,
        _ name: String,
        _ place: Place,
        _ request: PageRequest,
        confirms: Bool = false,
        _ body: Markup = ""
    ) -> Markup {
        Changes.form(
            title,
            action: action.url(in: place),
            request,
            place: place,
            confirming: confirms ? name : nil,
            "\(Parts.hidden("name", name))\(body)"
        )
    }

    // MARK: Roles

    private func roles(_ subject: Subject, _ place: Place, _ request: PageRequest) -> Markup {
        let name = subject.user.name
        let own = subject.roles.map { role in
            self.form(
                "Take away",
                .takeRole,
                name,
                place,
                request,
                "\(Parts.hidden("role", role))<p>Has the role \(Shown.text(role)).</p>"
            )
        }
        guard !subject.otherRoles.isEmpty else {
            let none: Markup =
                own.isEmpty
                ? "<p class=\"empty\">The schema has no roles: <code>CREATE ROLE</code> makes one.</p>" : ""
            return "\(own)\(none)"
        }
        let options = subject.otherRoles.map { Parts.option($0, $0, isSelected: false) }
        let give = self.form(
            "Give the role",
            .giveRole,
            name,
            place,
            request,
            "<label>Role <select name=\"role\">\(options)</select></label>"
        )
        return "\(own)\(give)"
    }

    // MARK: A person

    private func person(_ subject: Subject, _ place: Place, _ request: PageRequest) -> Markup {
        let user = subject.user
        let contacts = self.form(
            "Set contacts",
            .contacts,
            user.name,
            place,
            request,
            """
            <label class="wide">E-mail addresses and phone numbers by which others find the user, one a line
            <textarea name="contacts" rows="3" spellcheck="false">\n\(user.contacts.joined(separator: "\n"))</textarea>
            </label>
            """
        )
        let renew = self.form(
            "Make a new token",
            .renew,
            user.name,
            place,
            request,
            confirms: true,
            "<p>A new token takes the place of all others. Connections with the old ones end within a second.</p>"
        )
        let revoke = self.form(
            "Revoke all tokens",
            .revoke,
            user.name,
            place,
            request,
            confirms: true,
            "<p>The next sign-in is refused, and open connections end within a second. The records stay.</p>"
        )
        return """
            \(Parts.section("Contacts", id: "contacts", contacts))
            \(Parts.section("Token", id: "token", "\(renew)\(user.isRevoked ? "" : revoke)"))
            """
    }

    // MARK: A service

    private func keys(_ subject: Subject, _ place: Place, _ request: PageRequest) -> Markup {
        let name = subject.user.name
        let good = subject.keys.filter { !$0.isRevoked }
        let table = Parts.table(
            caption: "\(Shown.count(subject.keys.count, "key"))",
            columns: ["Key", "State", "Acts for", "Created"],
            rows: subject.keys.prefix(ConsolePages.rowsMax).map { key in
                [
                    "<code>\(key.keyID)</code>",
                    key.isRevoked
                        ? "<span class=\"state bad\">revoked</span>"
                        : "<span class=\"state good\">good</span>",
                    Shown.cut(key.onBehalfOf.joined(separator: ", ")),
                    Shown.time(milliseconds: key.createdMilliseconds),
                ]
            },
            empty: "The service has no key."
        )
        let options = good.map { Parts.option($0.keyID, $0.keyID, isSelected: false) }
        let revoke = self.form(
            "Revoke",
            .revokeKeys,
            name,
            place,
            request,
            confirms: true,
            """
            <label>Key <select name="key"><option value="">all keys</option>\(options)</select></label>
            <p>Connections with it end within a second. A revoked key never becomes valid again.</p>
            """
        )
        return """
            \(table)
            \(good.isEmpty ? "" : revoke)
            \(self.form("Make another key", .addKey, name, place, request, Self.keyFields))
            """
    }

    static let keyFields: Markup = """
        <label class="wide">Users for whom the service may act with the key, one a line
        <textarea name="for" rows="2" spellcheck="false"></textarea>
        </label>
        <label class="check"><input type="checkbox" name="readonly" value="yes"> The key only reads</label>
        """

    // MARK: Adding

    func add(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        guard self.changes.areOffered else { throw PageFailure.invalid("The console only reads.") }
        let name: Markup = """
            <label>Name
            <input name="name" required autocomplete="off" spellcheck="false">
            </label>
            """
        let user = Changes.form(
            "Add the user",
            action: UserAction.addUser.url(in: place),
            request,
            place: place,
            "\(name)<p>The next page shows the access token, once.</p>"
        )
        let service = Changes.form(
            "Add the service",
            action: UserAction.addKey.url(in: place),
            request,
            place: place,
            "\(name)\(Self.keyFields)<p>The next page shows the private key, once.</p>"
        )
        let body: Markup = """
            \(Parts.section("A user", id: "user", user))
            \(Parts.section("A service", id: "service", service))
            """
        return self.page("Add a user or a service", request, place, body)
    }

    // MARK: Deletion

    private func deleteLink(_ user: DirectoryUser, _ place: Place) -> Markup {
        let url = place.url(.users, "/delete").adding("name", user.name)
        return "<p class=\"pages\"><a href=\"\(url)\">Delete \(Shown.text(user.name)) for good</a></p>"
    }

    func delete(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        guard self.changes.areOffered else { throw PageFailure.invalid("The console only reads.") }
        guard let name = request.query["name"] else { throw PageFailure.invalid("The page names no user.") }
        let directory = self.console.store.directory
        let extent = try await self.console.blocking {
            try directory.extent(of: .user(name: name, container: place.container))
        }
        let body: Markup = """
            <p>This deletes the private databases of both environments, for good:</p>
            \(Parts.list([
                ("Records", "\(Shown.number(extent.stored.records))"),
                ("Assets", "\(Shown.number(extent.stored.assets))"),
                ("Size", "\(Shown.bytes(extent.stored.bytes))"),
                ("Shares that others lose", "\(Shown.number(extent.shares))"),
                ("Shares of others that are left", "\(Shown.number(extent.memberships))"),
            ]))
            <p>Tokens, keys, roles and contacts go along. Records in the public databases stay.</p>
            \(self.form("Delete for good", .delete, name, place, request, confirms: true))
            <p class="screen"><a href="\(place.url(.users, "/user").adding("name", name))">Back to \(Shown.text(name))</a></p>
            """
        return self.page("Delete \(name)", request, place, body)
    }

    private func page(_ title: String, _ request: PageRequest, _ place: Place, _ body: Markup) -> Page {
        self.console.page(title, request, place: place, section: .users, body)
    }
}
