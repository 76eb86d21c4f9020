/// What the entries of a ledger come to.
///
/// Readers are told apart by the tokens that they bring back. One that begins without a token is a *run*: once it is through, the names that were
/// told before it and did not come since are those of items that are there no more. Only after a token has expired readers are told so.
struct LedgerFold: Sendable {
    /// An item that readers were told of.
    struct Listed: Hashable, Sendable {
        var type: String
        /// When it was told last, in entries.
        var moment: Int
        /// Whether a run has found that it is there no more.
        var isLost = false
        /// When a reader was told by the feed that it is there no more; `nil` if none was.
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
    private(set) var names: [String: Listed]?
    /// Whether a token has expired, ever.
    private(set) var hasExpired = false
    private(set) var isDropped = false
    /// How large the file was when it was last written anew.
    private(set) var compactedBytes = 0
    private var moment = 0
    /// When runs began.
    private var runs: [UInt64: Int] = [:]
    /// The oldest first.
    private var tokens: [Given] = []

    init(withNames: Bool) { self.names = withNames ? [:] : nil }

    /// The run that a token was handed out in; `nil` if it was in none.
    func run(of token: UInt64) -> UInt64? {
        guard let run = self.tokens.last(where: { $0.token == token })?.run else { return nil }
        return self.runs[run] == nil ? nil : run
    }

    /// What was told before a run began and did not come since, by name.
    func missing(in run: UInt64) -> [(name: String, type: String)] {
        guard let start = self.runs[run] else { return [] }
        return (self.names ?? [:]).filter { $0.value.moment < start }
            .map { (name: $0.key, type: $0.value.type) }
            .sorted { $0.name < $1.name }
    }

    mutating func apply(_ entry: LedgerEntry) {
        self.moment += 1
        switch entry {
        case .told(let names, let type):
            for name in names { self.names?[name] = Listed(type: type, moment: self.moment) }
        case .lost(let names, let type):
            for name in names { self.names?[name] = Listed(type: type, moment: self.moment, isLost: true) }
        case .deleted(let names):
            for name in names where self.names?[name]?.isLost == false {
                self.names?[name]?.deleted = self.moment
            }
        case .removed(let names): for name in names { self.names?[name] = nil }
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
        case .ended(let run, let isReported): self.end(run, isReported: isReported)
        case .expired(let token): self.expire(token)
        case .compacted(let bytes, _): self.compactedBytes = Int(clamping: bytes)
        case .dropped: self.isDropped = true
        }
    }

    private mutating func end(_ run: UInt64, isReported: Bool) {
        guard let start = self.runs[run], let names = self.names else { return }
        for (name, listed) in names where listed.moment < start && !listed.isLost {
            // Another reader may have the item still, and hears of it in its own run.
            if isReported { self.names?[name]?.isLost = true } else { self.names?[name] = nil }
        }
    }

    /// Forgets what a reader that has come back with a token knows to be there no more.
    private mutating func forget(before token: UInt64) {
        guard let given = self.tokens.last(where: { $0.token == token })?.moment, let names = self.names
        else { return }
        self.names = names.filter { $0.value.deleted.map { $0 > given } ?? true }
    }

    private mutating func expire(_ token: UInt64) {
        // A token from before the last time says nothing new: its reader comes late.
        if self.tokens.contains(where: { $0.token == token && $0.isOld }) { return }
        if self.tokens.contains(where: { $0.token == token }), let names = self.names {
            self.names = names.filter { !$0.value.isLost }
        }
        for index in self.tokens.indices { self.tokens[index].isOld = true }
        self.hasExpired = true
    }

    /// The fewest entries that come to the same, in the order of their moments.
    var entries: [LedgerEntry] {
        var events: [(moment: Int, event: Event)] = self.runs.map { ($0.value, .other(.began(run: $0.key))) }
        events += self.tokens.map { ($0.moment, .other(.given(token: $0.token, run: $0.run))) }
        for (name, listed) in self.names ?? [:] {
            events.append(
                (listed.moment, .name(name, listed.isLost ? .lost(listed.type) : .told(listed.type)))
            )
            if let moment = listed.deleted { events.append((moment, .name(name, .deleted))) }
        }
        events.sort { $0.moment < $1.moment }
        if self.hasExpired {
            // No token has this number: those before it have expired, and nothing else happens.
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

    /// What names that stand together have in common.
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
