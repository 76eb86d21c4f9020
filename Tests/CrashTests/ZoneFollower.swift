import RecordModel
import WireProtocol

/// What one reader has of one zone, and its position in the feed; a copy is an earlier position to go
/// back to.
///
/// `take` holds every page against the specification, section 5.9.
struct ZoneFollower: Sendable {
    let zone: ZoneID
    let order: FetchChanges.SnapshotOrder
    private(set) var token: [UInt8] = []
    private(set) var records: [String: Content] = [:]
    /// When the token was asked for.
    private(set) var askedAt = 0
    /// When the reader got the token for now with which it began; 0 if it began with a snapshot.
    ///
    /// It has nothing that was sent before.
    private(set) var since = 0
    private(set) var isThrough = false
    private(set) var totals: SnapshotTotals?
    /// The token is behind it: whatever comes in the feed has a greater position.
    private var floor: Int64 = -1
    /// Of the last record in the feed that surely had its turn.
    private var lastTurn: Int64 = -1
    /// What came since the reader began: nothing comes twice.
    private var states: Set<State> = []
    private var hasDeletions = false

    private struct State: Hashable {
        var name: String
        var position: Int64
    }

    /// A page that was asked for: at which tick, and what the database had reached by then.
    struct Question {
        var limit: Int
        var tick: Int
        var position: Int64
    }

    init(_ zone: ZoneID, order: FetchChanges.SnapshotOrder) {
        self.zone = zone
        self.order = order
    }

    /// Begins with the token for now.
    init(_ zone: ZoneID, token: [UInt8], askedAt: Int, answeredAt: Int, position: Int64) {
        self.init(zone, order: .creation)
        self.token = token
        self.askedAt = askedAt
        self.since = answeredAt
        self.floor = position
    }

    /// Goes back to an earlier token, and keeps what came since if that was everything.
    mutating func goBack(to earlier: ZoneFollower) {
        let newer = self
        self = earlier
        let hasAll = newer.isThrough && newer.since <= earlier.since && newer.askedAt >= earlier.askedAt
        if hasAll { self.records = newer.records }
    }

    func request(limit: Int) -> FetchChanges {
        FetchChanges(
            scope: .private,
            zone: self.zone,
            token: self.token,
            limit: UInt32(limit),
            order: self.order
        )
    }

    // MARK: A page

    /// Takes the records of a page.
    mutating func take(_ items: [Item], _ end: End, _ question: Question, _ ledger: FeedLedger) throws {
        let page = try self.parsed(items, limit: question.limit)
        try self.checkEnd(end, page, question)
        for entry in page { try self.take(entry, question, ledger) }
        if end.totals == nil { try self.checkTurns(of: page, isFull: page.count == question.limit) }
        self.hasDeletions = page.contains { $0.content == nil }
        self.token = end.token
        self.askedAt = question.tick
        self.isThrough = !end.moreComing
        guard self.isThrough else { return }
        let faults = ledger.faults(self.zone, self.records, askedAt: question.tick, since: self.since)
        guard faults.isEmpty else { throw self.flaw("through, but \(faults.joined(separator: "; "))") }
        self.floor = max(self.floor, question.position, page.compactMap(\.content?.position).max() ?? -1)
        self.lastTurn = self.floor
    }

    struct Entry {
        var name: String
        /// `nil` if it is gone.
        var content: Content?
    }

    private func parsed(_ items: [Item], limit: Int) throws -> [Entry] {
        guard limit == 0 ? items.count <= 200 : items.count <= limit else {
            throw self.flaw("\(items.count) items instead of \(limit)")
        }
        guard items.map({ Int($0.index) }) == Array(items.indices) else {
            throw self.flaw("items are not numbered as they come")
        }
        let entries = try items.map { item in
            switch item.outcome {
            case .record(let message):
                let record = try message.record()
                guard record.id.zone.zoneName == self.zone.zoneName,
                    [FeedData.recordType, FeedData.usersType].contains(record.recordType)
                else {
                    throw self.flaw("a record of type \(record.recordType) in \(record.id.zone.zoneName)")
                }
                return Entry(name: record.id.recordName, content: try Content(record))
            case .recordDeleted(let deleted) where deleted.id.zone.zoneName == self.zone.zoneName:
                guard deleted.recordType == FeedData.recordType else {
                    throw self.flaw("a deleted record of type \(deleted.recordType)")
                }
                return Entry(name: deleted.id.recordName, content: nil)
            case let outcome: throw self.flaw("\(outcome)")
            }
        }
        guard Set(entries.map(\.name)).count == entries.count else {
            throw self.flaw("one record twice in a page")
        }
        return entries
    }

    private mutating func checkEnd(_ end: End, _ page: [Entry], _ question: Question) throws {
        guard (1...1_024).contains(end.token.count) else { throw self.flaw("a token of \(end.token.count)") }
        if page.isEmpty, end.moreComing, end.token == self.token { throw self.flaw("a page gets nowhere") }
        let isFirst = self.token.isEmpty
        if isFirst {
            guard end.totals != nil else { throw self.flaw("a snapshot without totals") }
            self.floor = question.position
        } else if let totals = end.totals {
            guard totals == self.totals else { throw self.flaw("totals that change") }
            guard !self.hasDeletions else { throw self.flaw("a deletion in a snapshot") }
            // Not `records`: after going back it may have what came later. Nor all of `states`: a
            // parent that changed after its turn comes once more, and one that was created after the
            // beginning is not counted.
            let names = Set(self.states.filter { $0.position <= self.floor }.map(\.name))
            guard names.count <= totals.records else { throw self.flaw("more than the totals said") }
        }
        self.totals = end.totals
    }

    private mutating func take(_ entry: Entry, _ question: Question, _ ledger: FeedLedger) throws {
        let id = RecordID(zone: self.zone, recordName: entry.name)
        if FeedData.names.contains(entry.name),
            let fault = ledger.fault(id, entry.content, askedAt: question.tick)
        {
            throw self.flaw(fault)
        }
        guard let content = entry.content else {
            self.records[entry.name] = nil
            return
        }
        if let parent = content.parent, self.since == 0, self.records[parent] == nil {
            throw self.flaw("\(entry.name) came before its parent \(parent)")
        }
        guard self.states.insert(State(name: entry.name, position: content.position)).inserted else {
            throw self.flaw("\(entry.name) came twice at \(content.position)")
        }
        self.records[entry.name] = content
    }

    // MARK: Turns

    /// In the feed positions ascend, and all are behind the token; ancestors that are sent ahead
    /// come just before a record whose position is less than theirs.
    private mutating func checkTurns(of page: [Entry], isFull: Bool) throws {
        for entry in page where entry.content.map({ $0.position <= self.floor }) ?? false {
            throw self.flaw("\(entry.name) is from before the token")
        }
        // The position of the turn at which each comes: its own, or that of the record of which it
        // is sent ahead.
        var turns = page.map { $0.content?.position }
        for index in turns.indices.dropFirst().reversed() {
            guard page[index].content?.parent == page[index - 1].name, let turn = turns[index],
                let position = turns[index - 1]
            else { continue }
            turns[index - 1] = min(turn, position)
        }
        for (entry, turn) in zip(page, turns).prefix(isFull ? self.settledCount(of: page) : page.count) {
            guard let turn, let position = entry.content?.position else { continue }
            guard turn > self.lastTurn else {
                throw self.flaw("\(entry.name) at \(turn), behind \(self.lastTurn)")
            }
            if position == turn { self.lastTurn = turn }
        }
    }

    /// Without the last ones of a full page, each the child of the one before: whom they were sent
    /// ahead of may be on the next.
    private func settledCount(of page: [Entry]) -> Int {
        var count = page.count - 1
        while count > 0, page[count].content?.parent == page[count - 1].name { count -= 1 }
        return max(0, count)
    }

    private func flaw(_ what: String) -> FeedFlaw { FeedFlaw("\(self.zone.zoneName): \(what)") }
}
