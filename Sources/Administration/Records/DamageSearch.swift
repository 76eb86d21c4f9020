package import RecordModel
import RecordStore
import StorageContract
import Synchronization

extension AdministeredDatabase {
    /// Reads all records of a zone as they are stored, and finds the ones with fields that cannot be read.
    package func damagedRecords(in zone: ZoneID) async throws -> (read: Int, damaged: [RecordID]) {
        let search = DamageSearch(zone)
        var read = FeedRead(zone: zone)
        while true {
            let end = try await self.changes(read, into: search)
            search.finishPage()
            guard end.moreComing else { return search.result }
            read.token = end.token
        }
    }
}

/// Examines the records of a zone as they are stored.
private final class DamageSearch: FeedSink {
    private struct Found {
        var read = 0
        var damaged: [RecordID] = []
    }

    private struct State {
        /// The results of the pages before.
        var all = Found()
        /// A page may be read again from its beginning.
        var page = Found()
    }

    private let zone: ZoneID
    private let state = Mutex(State())

    init(_ zone: ZoneID) { self.zone = zone }

    /// Damaged records come like others.
    var readsFields: Bool { false }

    var result: (read: Int, damaged: [RecordID]) {
        self.state.withLock { ($0.all.read, $0.all.damaged) }
    }

    func finishPage() {
        self.state.withLock {
            $0.all.read += $0.page.read
            $0.all.damaged += $0.page.damaged
            $0.page = Found()
        }
    }

    func add(_ record: borrowing LentRecord) {
        let isIntact = record.isIntact
        let name = String(decoding: record.name, as: UTF8.self)
        self.state.withLock {
            $0.page.read += 1
            if !isIntact { $0.page.damaged.append(RecordID(zone: self.zone, recordName: name)) }
        }
    }

    func removeAll() { self.state.withLock { $0.page = Found() } }
    func enter(_ zone: ZoneID) {}
    func add(_ deleted: DeletedRecord) {}
    func add(changed zone: ZoneID) {}
    func add(deleted zone: ZoneID) {}
}
