import RecordModel
import RecordStore
import Synchronization

/// The items of a page.
struct FeedItems {
    var records: [Record] = []
    var deletions: [DeletedRecord] = []
}

/// Takes the items of one page of a query or a feed.
final class GatheredRecords: FeedSink {
    private struct State {
        var zone = ZoneID.default
        var items = FeedItems()
    }

    private let state = Mutex(State())

    func take() -> FeedItems { self.state.withLock { $0.items } }

    func enter(_ zone: ZoneID) { self.state.withLock { $0.zone = zone } }

    func add(_ record: borrowing LentRecord) {
        let zone = self.state.withLock { $0.zone }
        let copy = record.record(in: zone)
        self.state.withLock { $0.items.records.append(copy) }
    }

    func add(_ deleted: DeletedRecord) { self.state.withLock { $0.items.deletions.append(deleted) } }

    // A zone's feed has none of these.
    func add(changed zone: ZoneID) {}
    func add(deleted zone: ZoneID) {}

    func removeAll() { self.state.withLock { $0.items = FeedItems() } }
}
