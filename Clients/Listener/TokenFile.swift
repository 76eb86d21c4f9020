import CloudKit

/// What changes: a database, or a zone of it.
enum Feed: Hashable, Sendable {
    case database(CKDatabase.Scope)
    case zone(CKRecordZone.ID, CKDatabase.Scope)

    /// For people, and for the state file.
    var text: String {
        switch self {
        case .database(let scope): scope.text
        case .zone(let zone, let scope): "\(scope.text)/\(zone.ownerName)/\(zone.zoneName)"
        }
    }
}

/// How far a listener has fetched, kept in a file from run to run.
///
/// ```json
/// {"container": "iCloud.org.example", "tokens": {"private/_self_/notes": "base64 of an archived CKServerChangeToken"}}
/// ```
///
/// - Durability: whoever reads the file finds the state before a change of it or after it, nothing between.
struct TokenFile {
    private struct Content: Codable {
        var container: String
        var tokens: [String: Data] = [:]
    }

    private let url: URL
    private var content: Content

    /// Reads the file; one that is not there is one without tokens.
    init(path: String, container: String) throws(ListenFailure) {
        self.url = URL(fileURLWithPath: path)
        self.content = Content(container: container)
        guard let data = FileManager.default.contents(atPath: path) else { return }
        guard let content = try? JSONDecoder().decode(Content.self, from: data) else {
            throw ListenFailure(.cannotCreate, "\(path) is no state file of tidemark-listen: name another")
        }
        guard content.container == container else {
            throw ListenFailure(
                .cannotCreate,
                "\(path) is the state of \(content.container), not of \(container): name another"
            )
        }
        self.content = content
    }

    /// Where a feed was left; one that can't be read counts as absent.
    subscript(_ feed: Feed) -> CKServerChangeToken? {
        self.content.tokens[feed.text].flatMap {
            try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: $0)
        }
    }

    /// Notes where a feed is now; `nil`: it is gone, or begins anew.
    mutating func keep(_ token: CKServerChangeToken?, for feed: Feed) throws(ListenFailure) {
        do {
            self.content.tokens[feed.text] = try token.map {
                try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
            }
            try FileManager.default.createDirectory(
                at: self.url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            try encoder.encode(self.content).write(to: self.url, options: .atomic)
        } catch {
            throw ListenFailure(
                .cannotCreate,
                "cannot write \(self.url.path): \(error.localizedDescription); name another with --state"
            )
        }
    }
}
