package import RecordModel
import StorageContract
import Synchronization

/// The items of a page.
package struct FeedItems: Sendable {
    package var records: [Record] = []
    package var deletions: [DeletedRecord] = []
}

/// Takes the items of one page of a query or a feed, for a caller that wants all of them.
package final class GatheredRecords: FeedSink {
    private struct State {
        var zone = ZoneID.default
        var items = FeedItems()
    }

    private let state = Mutex(State())

    package init() {}

    package func take() -> FeedItems { self.state.withLock { $0.items } }

    package func enter(_ zone: ZoneID) { self.state.withLock { $0.zone = zone } }

    package func add(_ record: borrowing LentRecord) {
        let zone = self.state.withLock { $0.zone }
        let copy = record.record(in: zone)
        self.state.withLock { $0.items.records.append(copy) }
    }

    package func add(_ deleted: DeletedRecord) { self.state.withLock { $0.items.deletions.append(deleted) } }

    // A zone's feed has none of these.
    package func add(changed zone: ZoneID) {}
    package func add(deleted zone: ZoneID) {}

    package func removeAll() { self.state.withLock { $0.items = FeedItems() } }
}
