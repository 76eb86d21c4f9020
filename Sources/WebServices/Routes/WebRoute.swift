import NIOHTTP1
import RecordModel

/// An endpoint that this version serves.
enum WebEndpoint: String, Hashable, Sendable, CaseIterable {
    case recordsModify = "records/modify"
    case recordsQuery = "records/query"
    case recordsLookup = "records/lookup"
    case recordsChanges = "records/changes"
    case changesZone = "changes/zone"
    case changesDatabase = "changes/database"
    case zonesList = "zones/list"
    case zonesLookup = "zones/lookup"
    case zonesModify = "zones/modify"
    case zonesChanges = "zones/changes"
    case usersCurrent = "users/current"
    case usersCaller = "users/caller"

    /// Whether Apple's text has GET for it; a POST is as good.
    var takesGET: Bool {
        switch self {
        case .zonesList, .usersCurrent, .usersCaller: true
        case .recordsModify, .recordsQuery, .recordsLookup, .recordsChanges, .changesZone,
            .changesDatabase, .zonesLookup, .zonesModify, .zonesChanges:
            false
        }
    }

    /// Whether it is written as public, whatever database it concerns.
    var isOfUsers: Bool { self == .usersCurrent || self == .usersCaller }
}

/// Where the target of a request leads.
///
///     /database/1/{container}/{development|production}/{public|private|shared}/{entity}/{action}
struct WebRoute: Hashable, Sendable {
    let container: String
    let environment: Environment
    let scope: DatabaseScope
    let endpoint: WebEndpoint

    /// Endpoints of Apple's that this version does not serve.
    static let missing: Set = [
        "records/resolve", "records/accept", "assets/upload", "assets/rereference", "subscriptions/list",
        "subscriptions/lookup", "subscriptions/modify", "users/discover", "users/lookup/email",
        "users/lookup/id", "users/lookup/contacts", "tokens/create", "tokens/register",
    ]

    /// Finds the endpoint of a path, which is taken as it was sent.
    init(path: some StringProtocol, method: HTTPMethod) throws(WebFailure) {
        let parts = path.split(separator: "/" as Character, omittingEmptySubsequences: false).map {
            String($0)
        }
        guard parts.count >= 6, parts[0].isEmpty, parts[1] == "database" || parts[1] == "device",
            parts[2] == "1", !parts[3].isEmpty,
            let environment = Self.environment(parts[4])
        else { throw WebFailure(.notFound, "there is nothing at this path") }
        let scope = Self.scope(parts[5])
        let name = parts[(scope == nil ? 5 : 6)...].joined(separator: "/")
        guard !Self.missing.contains(name) else {
            throw WebFailure(.notFound, "this version of the server does not serve \(name)")
        }
        guard parts[1] == "database", let scope, let endpoint = WebEndpoint(rawValue: name) else {
            throw WebFailure(.notFound, "there is nothing at this path")
        }
        guard method == .POST || (method == .GET && endpoint.takesGET) else {
            throw WebFailure(allowing: endpoint.takesGET ? "GET, POST" : "POST")
        }
        guard scope == .public || !endpoint.isOfUsers else {
            throw WebFailure(.badRequest, "\(name) belongs to the public database")
        }
        self.container = parts[3]
        self.environment = environment
        self.scope = scope
        self.endpoint = endpoint
    }

    private static func environment(_ name: String) -> Environment? {
        switch name {
        case "development": .development
        case "production": .production
        default: nil
        }
    }

    private static func scope(_ name: String) -> DatabaseScope? {
        switch name {
        case "public": .public
        case "private": .private
        case "shared": .shared
        default: nil
        }
    }
}
