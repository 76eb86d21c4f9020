import CloudKit

/// The positions of a listener's feeds, and the records that matched its queries, in a file that is
/// kept between runs.
///
/// ```json
/// {"container": "iCloud.org.example",
///  "tokens": {"private/_self_/notes": "base64 of an archived CKServerChangeToken"},
///  "matching": {"private/_self_/notes Note pages > 10": ["n1", "n2"]}}
/// ```
///
/// - Durability: A reader of the file finds the state before a change or after it, never between.
struct StateFile {
    private struct Content: Codable {
        var container: String
        var tokens: [String: Data] = [:]
        /// Names of records by zone and query; `nil` in a file without any.
        var matching: [String: [String]]?
    }

    /// `nil` if the state is for this run alone.
    private let url: URL?
    private var content: Content

    /// Makes a state that ends with the process.
    init(container: String) {
        self.url = nil
        self.content = Content(container: container)
    }

    /// Reads a file; a missing file has no tokens.
    ///
    /// It writes the file at once, so that a file that can't be written is noticed before the first
    /// page is printed.
    init(path: String, container: String) throws(ListenFailure) {
        let url = URL(fileURLWithPath: path)
        self.url = url
        self.content = Content(container: container)
        if let data = FileManager.default.contents(atPath: path) {
            guard let content = try? JSONDecoder().decode(Content.self, from: data) else {
                throw ListenFailure(
                    .cannotCreate,
                    "\(path) is not a state file of tidemark-listen: name another file with --state"
                )
            }
            guard content.container == container else {
                throw ListenFailure(
                    .cannotCreate,
                    "\(path) is the state of \(content.container), not of \(container): name another file with --state"
                )
            }
            self.content = content
        }
        try self.write()
    }

    /// The last position of a feed; an unreadable one counts as absent.
    subscript(_ reading: Reading) -> CKServerChangeToken? {
        self.content.tokens[reading.text].flatMap {
            try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: $0)
        }
    }

    /// Returns the records of a zone that matched the query at its last position.
    func matching(_ reading: Reading) -> Set<CKRecord.ID> {
        Set((self.content.matching?[reading.text] ?? []).map { CKRecord.ID(recordName: $0) })
    }

    /// Notes the position of a feed; `nil` if it is gone, or starts again.
    mutating func keep(
        _ token: CKServerChangeToken?,
        for reading: Reading,
        matching names: Set<CKRecord.ID> = []
    ) throws(ListenFailure) {
        // A token has no part that an archiver refuses.
        self.content.tokens[reading.text] = token.flatMap {
            try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
        }
        if !names.isEmpty || self.content.matching != nil {
            self.content.matching = self.content.matching ?? [:]
            self.content.matching?[reading.text] = names.isEmpty ? nil : names.map(\.recordName).sorted()
        }
        try self.write()
    }

    private func write() throws(ListenFailure) {
        guard let url else { return }
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            try encoder.encode(self.content).write(to: url, options: .atomic)
        } catch {
            let reason = Self.reason(error)
            throw ListenFailure(
                .cannotCreate,
                "cannot write \(url.path) (\(reason)): name another file with --state"
            )
        }
    }

    /// Returns the system's text for an error that Foundation has wrapped.
    private static func reason(_ error: any Error) -> String {
        let underlying = (error as? CocoaError)?.underlying as? POSIXError
        guard let code = (error as? POSIXError ?? underlying)?.code.rawValue else {
            return error.localizedDescription
        }
        return String(cString: strerror(code))
    }
}

extension CKRecord.ID {
    /// The ID of the same name, by which names are kept apart as servers do; a `String` takes an `é`
    /// for an `e` with a combining accent.
    var withoutZone: CKRecord.ID { CKRecord.ID(recordName: self.recordName) }
}
