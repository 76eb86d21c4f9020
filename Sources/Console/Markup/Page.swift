/// A page of the console, without what is around it.
struct Page: Sendable {
    var title: String
    /// `nil` without a session: the page leads nowhere.
    var session: Session?
    /// `nil` outside of a container.
    var place: Place?
    var section: Section?
    var body: Markup
    var surroundings: Surroundings
    /// `nil` on pages about data.
    var tool: Tool?
    /// Under a foreign name nothing else of the console answers: the page has no files and no links.
    var isAlone = false

    /// The parts of a container's pages.
    enum Section: String, CaseIterable, Sendable {
        case records
        case zones
        case schema
        case subscriptions
        case users
        case usage
        case audit

        var title: String { self.rawValue.prefix(1).uppercased() + self.rawValue.dropFirst() }
    }

    /// The pages about the server itself.
    enum Tool: String, CaseIterable, Sendable {
        case telemetry
        case logs
        case backups

        var title: String { self.rawValue.prefix(1).uppercased() + self.rawValue.dropFirst() }
    }

    /// The text in the foot of every page.
    struct Surroundings: Sendable {
        var folder: String
        var version: String
        var nowMilliseconds: Int64
        var server: ConsoleConfiguration.ServerState
    }
}
