import RecordJSON
import RecordModel
import RecordServer
import StorageContract
import Synchronization
import WireProtocol

/// Writes the items of a response as JSON, where they are read.
final class WebItems: DoorSink {
    struct Result {
        let text: [UInt8]
        let isFailure: Bool
    }

    private struct State {
        var zone = ZoneID.default
        var results: [Result] = []
        /// Items that came, those that were left out included.
        var count = 0
        var bytes = 0
        var damaged: [RecordID] = []
        var failures: [ErrorCode] = []
    }

    private let form: WebForm
    /// Of a fetch: the records that are asked for.
    private let ids: [RecordID]
    /// Of a fetch: the fields to return, by the number of the record.
    private let keys: [Int: Set<String>]
    /// The types of records to return; `nil` for all.
    private let types: Set<String>?
    private let state = Mutex(State())

    init(
        _ form: WebForm,
        ids: [RecordID] = [],
        keys: [Int: Set<String>] = [:],
        types: Set<String>? = nil
    ) {
        self.form = form
        self.ids = ids
        self.keys = keys
        self.types = types
    }

    /// Each item as JSON.
    var results: [Result] { self.state.withLock { $0.results } }
    /// The texts of the items.
    var items: [[UInt8]] { self.results.map(\.text) }
    /// Bytes of all items.
    var bytes: Int { self.state.withLock { $0.bytes } }
    var damaged: [RecordID] { self.state.withLock { $0.damaged } }
    var failures: [ErrorCode] { self.state.withLock { $0.failures } }

    private func append(_ item: [UInt8], isFailure: Bool = false) {
        self.state.withLock { state in
            state.bytes += item.count
            state.results.append(Result(text: item, isFailure: isFailure))
        }
    }

    private func appendWritten(_ write: (inout JSONOutput) -> Void) {
        var output = JSONOutput()
        write(&output)
        self.append(output.text)
    }

    // MARK: RecordSink

    func enter(_ zone: ZoneID) { self.state.withLock { $0.zone = zone } }

    func add(_ record: borrowing LentRecord) {
        let (zone, number) = self.state.withLock { state in
            state.count += 1
            return (state.zone, state.count - 1)
        }
        var record = record.record(in: zone)
        if let types, !types.contains(record.recordType) { return }
        if let keys = self.keys[number] { record.body = record.body.keeping(keys) }
        self.appendWritten { $0.webRecord(record, self.form) }
    }

    func note(damaged record: RecordID) {
        self.state.withLock { if !$0.damaged.contains(record) { $0.damaged.append(record) } }
    }

    func removeAll() { self.state.withLock { $0 = State() } }

    // MARK: FetchSink

    func add(_ error: StoreError) {
        if case .recordDamaged(let id) = error { self.note(damaged: id) }
        let failure = Failure(error)
        let number = self.state.withLock { state in
            state.count += 1
            state.failures.append(failure.code)
            return state.count - 1
        }
        let name = self.ids.indices.contains(number) ? self.ids[number].recordName : ""
        let item = WebFailure(failure).item(self.form) { $0.member("recordName", name) }
        self.append(item, isFailure: true)
    }

    // MARK: FeedSink

    func add(_ deleted: DeletedRecord) {
        if let types, !types.contains(deleted.recordType) { return }
        self.appendWritten { $0.webDeletion(deleted.id, self.form) }
    }

    func add(changed zone: ZoneID) { self.add(zone, isDeleted: false) }

    func add(deleted zone: ZoneID) { self.add(zone, isDeleted: true) }

    private func add(_ zone: ZoneID, isDeleted: Bool) {
        self.appendWritten { output in
            output.object { output in
                output.name("zoneID")
                output.webZone(zone, self.form)
                if isDeleted { output.member("deleted", literal: "true") }
            }
        }
    }
}
