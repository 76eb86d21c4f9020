import RecordModel

/// The subject of a page: an environment of a container, and one of its databases.
struct Place: Hashable, Sendable {
    var container: String
    var environment: Environment
    var scope = DatabaseScope.public
    /// The name of the user who is acted as; `nil` for an operator.
    var user: String?

    /// Reads the path of a page and its query.
    ///
    /// - Throws: `PageFailure` for an invalid place.
    init(_ request: PageRequest) throws(PageFailure) {
        guard let container = request.path["container"], NameRules.isContainerID(container),
            let environment = request.path["environment"].flatMap({ Environment(name: $0) })
        else { throw .missing("There is no such container or environment.") }
        self.container = container
        self.environment = environment
        self.user = request.query["user"]
        guard let scope = request.query["database"] else {
            self.scope = self.user == nil ? .public : .private
            return
        }
        guard let known = DatabaseScope.named(scope) else {
            throw .missing("There is no database '\(Shown.beginning(of: scope, bytes: 40))'.")
        }
        self.scope = known
    }

    init(container: String, environment: Environment) {
        self.container = container
        self.environment = environment
    }

    /// A page of the container, which keeps the database.
    func url(_ section: Page.Section?, _ rest: String = "") -> PageURL {
        let base = "/c/\(self.container)/\(self.environment.name)"
        var url = PageURL(section.map { "\(base)/\($0.rawValue)" + rest } ?? base)
        if let shown = self.scopeName { url.items.append(PageURL.Item("database", shown)) }
        if let user { url.items.append(PageURL.Item("user", user)) }
        return url
    }

    /// A page below the environment that is no section.
    func url(named name: String) -> PageURL {
        var url = self.url(.records)
        url = PageURL("/c/\(self.container)/\(self.environment.name)/\(name)", url.items)
        return url
    }

    func recordURL(_ id: RecordID) -> PageURL {
        var url = self.url(named: "record")
        if !id.zone.isDefault { url = url.adding("zone", id.zone.zoneName) }
        if !id.zone.ownerName.isEmpty { url = url.adding("owner", id.zone.ownerName) }
        return url.adding("name", id.recordName)
    }

    /// The same place as the fields of a form.
    var hiddenFields: Markup {
        Parts.hidden("database", self.scopeName) + Parts.hidden("user", self.user)
    }

    /// The database in a URL; `nil` for what a URL without one means to an operator.
    private var scopeName: String? {
        self.scope == .public && self.user == nil ? nil : self.scope.name
    }

    /// The database and its reader, in words.
    var databaseText: Markup {
        switch (self.scope, self.user) {
        case (.public, nil): "the public database, as an operator"
        case (.public, let user?): "the public database, as \(Shown.text(user))"
        case (let scope, let user): "the \(scope.name) database of \(Shown.text(user ?? "nobody"))"
        }
    }
}

extension DatabaseScope {
    var name: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        }
    }

    static let all: [DatabaseScope] = [.public, .private, .shared]

    static func named(_ name: String) -> DatabaseScope? { self.all.first { $0.name == name } }
}
