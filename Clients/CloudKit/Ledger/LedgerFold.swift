internal import RecordModel

/// The state that the entries of a ledger add up to.
///
/// Readers are recognised by the tokens that they bring back. A reader that starts without a token
/// makes a *run*. When the run has ended, the items that were reported before it and did not come
/// in it have vanished. Readers are told so only after a token has expired. A vanished item stays
/// listed until a token expires that was handed out after the run: its reader was told.
struct LedgerFold: Sendable {
    /// An item that readers were told of.
    struct Listed: Hashable, Sendable {
        var type: String
        /// The number of the entry that reported it last.
        var moment: Int
        /// The entry with which a run found that it has vanished; `nil` if there is none.
        var lost: Int?
        /// The entry with which a reader was told of the deletion; `nil` if there is none.
        var deleted: Int?
    }

    private struct Given: Sendable {
        let token: UInt64
        let run: UInt64
        let moment: Int
        /// Whether a token has expired since.
        var isOld = false
    }

    private static let tokensMax = 256
    private static let runsMax = 16

    /// `nil` if names are not wanted.
    private(set) var names: [ExactName: Listed]?
    /// Whether a token has expired, ever.
    private(set) var hasExpired = false
    private(set) var isDropped = false
    /// The size of the file when it was last rewritten.
    private(set) var compactedBytes = 0
    private var moment = 0
    /// The first entry of each run.
    private var runs: [UInt64: Int] = [:]
    /// In ascending order of age, the oldest first.
    private var tokens: [Given] = []

    init(withNames: Bool) { self.names = withNames ? [:] : nil }

    /// Returns the run in which a token was handed out; `nil` if there was none.
    func run(of token: UInt64) -> UInt64? {
        guard let run = self.tokens.last(where: { $0.token == token })?.run else { return nil }
        return self.runs[run] == nil ? nil : run
    }

    /// Returns the items that were reported before a run and did not come in it, by name.
    func missing(in run: UInt64) -> [(name: String, type: String)] {
        guard let start = self.runs[run] else { return [] }
        return (self.names ?? [:]).filter { $0.value.moment < start }
            .map { (name: $0.key.text, type: $0.value.type) }
            .sorted { ExactName($0.name) < ExactName($1.name) }
    }

    mutating func apply(_ entry: LedgerEntry) {
        self.moment += 1
        switch entry {
        case .told(let names, let type):
            for name in names {
                self.names?[ExactName(name)] = Listed(type: type, moment: self.moment)
            }
        case .lost(let names, let type):
            for name in names {
                self.names?[ExactName(name), default: Listed(type: type, moment: self.moment)]
                    .lost = self.moment
            }
        case .deleted(let names):
            for name in names.map(ExactName.init) where self.names?[name].map({ $0.lost == nil }) == true {
                self.names?[name]?.deleted = self.moment
            }
        case .removed(let names): for name in names { self.names?[ExactName(name)] = nil }
        case .returned(let token): self.forget(before: token)
        case .began(let run):
            self.runs[run] = self.moment
            if self.runs.count > Self.runsMax, let oldest = self.runs.min(by: { $0.value < $1.value }) {
                self.runs[oldest.key] = nil
            }
        case .given(let token, let run):
            self.tokens.removeAll { $0.token == token }
            self.tokens.append(Given(token: token, run: run, moment: self.moment))
            if self.tokens.count > Self.tokensMax { self.tokens.removeFirst() }
        case .ended(let run): self.end(run)
        case .expired(let token): self.expire(token)
        case .compacted(let bytes, _): self.compactedBytes = Int(clamping: bytes)
        case .dropped: self.isDropped = true
        }
    }

    private mutating func end(_ run: UInt64) {
        guard let start = self.runs[run], let names = self.names else { return }
        for (name, listed) in names where listed.moment < start && listed.lost == nil {
            // Another reader may still have the item, and is told in its own run.
            self.names?[name]?.lost = self.moment
        }
    }

    /// Forgets the deletions that a reader knows which has come back with a token.
    private mutating func forget(before token: UInt64) {
        guard let given = self.tokens.last(where: { $0.token == token })?.moment, let names = self.names
        else { return }
        self.names = names.filter { $0.value.deleted.map { $0 > given } ?? true }
    }

    private mutating func expire(_ token: UInt64) {
        let given = self.tokens.last { $0.token == token }
        // A token from before the last expiry is no new event: its reader comes late.
        if let given, given.isOld { return }
        if let given, let names = self.names {
            self.names = names.filter { $0.value.lost.map { $0 > given.moment } ?? true }
        }
        for index in self.tokens.indices { self.tokens[index].isOld = true }
        self.hasExpired = true
    }

    /// The fewest entries with the same state, in the order of their moments.
    var entries: [LedgerEntry] {
        var events: [(moment: Int, event: Event)] = self.runs.map { ($0.value, .other(.began(run: $0.key))) }
        events += self.tokens.map { ($0.moment, .other(.given(token: $0.token, run: $0.run))) }
        for (name, listed) in self.names ?? [:] {
            events.append((listed.moment, .name(name.text, .told(listed.type))))
            if let moment = listed.lost { events.append((moment, .name(name.text, .lost(listed.type)))) }
            if let moment = listed.deleted { events.append((moment, .name(name.text, .deleted))) }
        }
        events.sort { $0.moment < $1.moment }
        if self.hasExpired {
            // No token has this number: it only makes those before it expire.
            let last = self.tokens.last { $0.isOld }?.moment ?? 0
            let index = events.firstIndex { $0.moment > last } ?? events.endIndex
            events.insert((last, .other(.expired(token: 0))), at: index)
        }
        var entries: [LedgerEntry] = []
        var batch: (list: List, names: [String])?
        for (_, event) in events {
            if case .name(let name, let list) = event, batch?.list == list {
                batch?.names.append(name)
                continue
            }
            if let batch { entries.append(batch.list.entry(batch.names)) }
            batch = nil
            switch event {
            case .name(let name, let list): batch = (list, [name])
            case .other(let entry): entries.append(entry)
            }
        }
        if let batch { entries.append(batch.list.entry(batch.names)) }
        return entries
    }

    private enum Event {
        case name(String, List)
        case other(LedgerEntry)
    }

    /// What the names in one list have in common.
    private enum List: Equatable {
        case told(String)
        case lost(String)
        case deleted

        func entry(_ names: [String]) -> LedgerEntry {
            switch self {
            case .told(let type): .told(names, type: type)
            case .lost(let type): .lost(names, type: type)
            case .deleted: .deleted(names)
            }
        }
    }
}
