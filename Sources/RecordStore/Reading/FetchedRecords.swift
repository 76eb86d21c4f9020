import RecordModel
import StorageContract
import Synchronization

/// Keeps copies of the records that a fetch finds, for callers that read them.
final class FetchedRecords: FetchSink {
    private struct State {
        var zone = ZoneID.default
        var outcomes: [ReadOutcome] = []
    }

    private let state = Mutex(State())

    var outcomes: [ReadOutcome] { self.state.withLock { $0.outcomes } }

    func enter(_ zone: ZoneID) { self.state.withLock { $0.zone = zone } }

    func add(_ record: borrowing LentRecord) {
        let copy = record.record(in: self.state.withLock { $0.zone })
        self.state.withLock { $0.outcomes.append(.record(copy)) }
    }

    func add(_ error: StoreError) { self.state.withLock { $0.outcomes.append(.failed(error)) } }

    func removeAll() { self.state.withLock { $0.outcomes = [] } }
}
