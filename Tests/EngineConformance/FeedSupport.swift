import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

enum FeedItem: Hashable, Sendable {
    case record(Record)
    case recordDeleted(DeletedRecord)
    case zoneChanged(ZoneID)
    case zoneDeleted(ZoneID)
}

/// A page of a feed with its items.
struct FeedItems {
    var items: [FeedItem]
    var token: [UInt8]
    var moreComing: Bool
    var totals: SnapshotTotals?
    var clientToken: [UInt8]

    fileprivate init(_ answer: FeedPageEnd, _ sink: KeptItems) {
        self.items = sink.items.withLock { $0 }
        self.token = answer.token
        self.moreComing = answer.moreComing
        self.totals = answer.totals
        self.clientToken = answer.clientToken
    }
}

private final class KeptItems: FeedSink {
    let items = Mutex<[FeedItem]>([])

    private let zone = Mutex(ZoneID(zoneName: "none"))

    func enter(_ zone: ZoneID) { self.zone.withLock { $0 = zone } }
    func add(_ record: borrowing LentRecord) {
        self.add(.record(record.record(in: self.zone.withLock { $0 })))
    }
    func removeAll() { self.items.withLock { $0 = [] } }
    func add(_ deleted: DeletedRecord) { self.add(.recordDeleted(deleted)) }
    func add(changed zone: ZoneID) { self.add(.zoneChanged(zone)) }
    func add(deleted zone: ZoneID) { self.add(.zoneDeleted(zone)) }

    private func add(_ item: FeedItem) { self.items.withLock { $0.append(item) } }
}

extension EngineUnderTest {
    func changes(_ read: FeedRead, by requester: Requester? = nil) async throws(StoreError) -> FeedItems {
        let sink = KeptItems()
        let result = await withCheckedContinuation { continuation in
            self.store.changes(read, for: requester ?? self.privately, into: sink) {
                continuation.resume(returning: $0)
            }
        }
        return FeedItems(try result.get(), sink)
    }

    func databaseChanges(
        _ read: DatabaseFeedRead,
        by requester: Requester? = nil
    ) async throws(StoreError) -> FeedItems {
        let sink = KeptItems()
        let result = await withCheckedContinuation { continuation in
            self.store.databaseChanges(read, for: requester ?? self.privately, into: sink) {
                continuation.resume(returning: $0)
            }
        }
        return FeedItems(try result.get(), sink)
    }

    func token(of zone: ZoneID?, by requester: Requester? = nil) async throws(StoreError) -> [UInt8] {
        let result = await withCheckedContinuation { continuation in
            self.store.token(of: zone, for: requester ?? self.privately) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    /// Everything from a token on, page by page.
    func all(
        after token: [UInt8]? = nil,
        order: FetchChanges.SnapshotOrder = .creation,
        of zone: ZoneID = notes,
        limit: Int = 1_000,
        by requester: Requester? = nil
    ) async throws(StoreError) -> (items: [String], token: [UInt8]) {
        var items: [String] = []
        var read = FeedRead(zone: zone, token: token, order: order, limit: limit)
        while true {
            let answer = try await self.changes(read, by: requester)
            items += answer.items.map(\.text)
            read.token = answer.token
            guard answer.moreComing else { return (items, answer.token) }
        }
    }
}

extension FeedItem {
    /// The name, with a minus in front of it when it is gone.
    var text: String {
        switch self {
        case .record(let record): record.id.recordName
        case .recordDeleted(let deleted): "-" + deleted.id.recordName
        case .zoneChanged(let zone): zone.zoneName
        case .zoneDeleted(let zone): "-" + zone.zoneName
        }
    }
}

/// What a client knows of a zone that it follows.
struct Follower {
    struct Known: Hashable {
        var tag: String
        var parent: String?
    }

    var zone = notes
    /// `nil` if it is Alice in her private database.
    var requester: Requester?
    var token: [UInt8]?
    var records: [String: Known] = [:]
    var order = FetchChanges.SnapshotOrder.creation
    /// Names in the order in which they came.
    var seen: [String] = []
    /// Children that came while their parent was not known.
    var orphans: [String] = []
    var isThrough = false

    /// Reads a page and does what it says.
    mutating func follow(_ it: EngineUnderTest, limit: Int) async throws(StoreError) {
        let read = FeedRead(zone: self.zone, token: self.token, order: self.order, limit: limit)
        let answer = try await it.changes(read, by: self.requester)
        #expect(answer.items.count <= limit)
        #expect(answer.token.count <= 660)
        for item in answer.items {
            switch item {
            case .record(let record):
                let name = record.id.recordName
                if let parent = record.parent, self.records[parent] == nil { self.orphans.append(name) }
                self.records[name] = Known(tag: record.changeTag, parent: record.parent)
                self.seen.append(name)
            case .recordDeleted(let deleted):
                let isUser = deleted.id.recordName.hasPrefix("_")
                #expect(deleted.recordType == (isUser ? "Users" : "Note"))
                self.records[deleted.id.recordName] = nil
            case .zoneChanged, .zoneDeleted: Issue.record("a zone in the feed of a zone")
            }
        }
        self.token = answer.token
        self.isThrough = !answer.moreComing
    }
}
