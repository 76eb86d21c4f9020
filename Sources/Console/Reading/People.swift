import RecordStore

/// The names of a container's users and services, by user record name.
struct People: Sendable {
    private let names: [String: String]
    /// Of users, not of services.
    let userNames: [String]

    init(_ users: [DirectoryUser]) {
        self.userNames = users.filter { !$0.isService }.map(\.name)
        self.names = Dictionary(users.map { ($0.userRecordName, $0.name) }) { first, _ in first }
    }

    /// The name of a user or service; `nil` if there is none of this user record name.
    func name(of userRecordName: String) -> String? { self.names[userRecordName] }

    /// The user record name of a user; `nil` if there is none of this name.
    func userRecordName(of name: String) -> String? {
        guard self.userNames.contains(name) else { return nil }
        return self.names.first { $0.value == name }?.key
    }

    /// The name in a table; the user record name if there is no name.
    func shortName(of userRecordName: String) -> String { self.names[userRecordName] ?? userRecordName }

    /// A person, given by a user record name, a role or an address.
    func markup(_ who: String) -> Markup {
        guard let name = self.names[who] else { return Shown.text(who) }
        return "\(Shown.text(name)) <code class=\"hash\">\(who)</code>"
    }

    /// The author of a record.
    func author(_ who: String) -> Markup {
        who.isEmpty ? "somebody who was not signed in" : self.markup(who)
    }
}

extension ConsolePages {
    func people(of place: Place) async throws -> People {
        let directory = self.store.directory
        let container = place.container
        return People(try await self.blocking { try directory.users(ofContainer: container) })
    }
}
