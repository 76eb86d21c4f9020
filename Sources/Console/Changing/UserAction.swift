import Hummingbird
import RecordModel
import RecordStore

/// A change of a user or a service that a form asks for.
enum UserAction: String, CaseIterable, Sendable {
    case addUser = "add-user"
    case addKey = "add-key"
    case renew = "renew"
    case revoke = "revoke"
    case delete = "delete"
    case contacts = "contacts"
    case giveRole = "give-role"
    case takeRole = "take-role"
    case revokeKeys = "revoke-keys"

    func url(in place: Place) -> PageURL { place.url(.users, "/" + self.rawValue) }

    /// Whether the name of the user has to be typed in every environment.
    ///
    /// Tokens and keys are those of both.
    private var isConfirmedByName: Bool {
        switch self {
        case .renew, .revoke, .delete, .revokeKeys: true
        case .addUser, .addKey, .contacts, .giveRole, .takeRole: false
        }
    }

    /// Makes the change of a form.
    func make(_ request: PageRequest, _ console: ConsolePages) async throws -> Response {
        let place = try Place(request)
        guard let name = request.form["name"] else { throw PageFailure.invalid("The form names no user.") }
        try Changes.checkConfirmed(request, place, confirming: self.isConfirmedByName ? name : nil)
        let secret = try await Changes(console: console).make(self.action(name, request.form), in: place)
        if let secret { return self.shown(secret, of: name, place, request, console) }
        guard self != .delete else { return Changes.lead(to: place.url(.users)) }
        return Changes.lead(to: place.url(.users, "/user").adding("name", name))
    }

    private func action(_ name: String, _ form: FormItems) throws(PageFailure) -> OperatorChange.Action {
        switch self {
        case .addUser: .addUser(name)
        case .addKey:
            .addKey(service: name, onBehalfOf: form.lines("for"), isReadOnly: form["readonly"] == "yes")
        case .renew: .renewUser(name)
        case .revoke: .revokeUser(name)
        case .delete: .deleteUser(name)
        case .contacts: .setContacts(try Self.contacts(form.lines("contacts")), user: name)
        case .giveRole: .setRole(try Self.role(form), user: name, isGiven: true)
        case .takeRole: .setRole(try Self.role(form), user: name, isGiven: false)
        case .revokeKeys: .revokeKeys(service: name, keyID: form["key"])
        }
    }

    private static func role(_ form: FormItems) throws(PageFailure) -> String {
        guard let role = form["role"] else { throw .invalid("The form names no role.") }
        return role
    }

    private static func contacts(_ lines: [String]) throws(PageFailure) -> [IdentityLookup] {
        var contacts: [IdentityLookup] = []
        for line in lines {
            guard let contact = self.contact(line) else {
                throw .invalid(
                    "'\(Shown.beginning(of: line, bytes: 64))' is neither an e-mail address nor a phone number."
                )
            }
            contacts.append(contact)
        }
        return contacts
    }

    /// An e-mail address or a phone number; `nil` if a text is neither.
    static func contact(_ text: String) -> IdentityLookup? {
        if text.contains("@"), text.utf8.count <= Bounds.nameBytesMax { return .emailAddress(text) }
        return text.contains(where: \.isNumber) && text.utf8.count <= 64 ? .phoneNumber(text) : nil
    }

    /// The page with a token or a private key, which nothing keeps.
    private func shown(
        _ secret: String,
        of name: String,
        _ place: Place,
        _ request: PageRequest,
        _ console: ConsolePages
    ) -> Response {
        let what = self == .addKey ? "private key" : "access token"
        let body: Markup = """
            \(Parts.notice("This is the \(what) of \(Shown.text(name)). It is not shown again, and the console does not keep it."))
            <pre id="made" tabindex="0">\(secret)</pre>
            <p class="screen"><button type="button" class="script" data-copies="made">Copy</button></p>
            <p class="screen"><a href="\(place.url(.users, "/user").adding("name", name))">Go on to \(Shown.text(name))</a></p>
            """
        return ConsoleRouter.response(
            console.page("The \(what) of \(name)", request, place: place, section: .users, body)
        )
    }
}

extension FormItems {
    /// The lines of a text, without blanks around them and without empty ones.
    func lines(_ name: String) -> [String] {
        (self[name] ?? "").split(whereSeparator: \.isNewline).map { line in
            String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }.filter { !$0.isEmpty }
    }
}
