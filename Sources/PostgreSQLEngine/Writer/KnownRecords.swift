import RecordModel
import StorageContract

/// Records that a transaction need not read: written, prefetched, or cached by the writer.
///
/// Used by the writer's thread.
final class KnownRecords {
    /// Records of a zone that the transaction has saved or deleted; deleted ones are `nil`.
    private final class Written {
        private var names = IndexedNames()
        private(set) var records: [(name: String, record: StoredRecord?)] = []

        func append(_ record: StoredRecord?, named name: String) {
            self.names.append(name)
            self.records.append((name, record))
        }

        func record(named name: String) -> StoredRecord?? {
            self.names.lastIndex(of: name).map { self.records[$0].record }
        }
    }

    private let memory: RecordMemory
    private let prefetched = PrefetchedRecords()
    private var written: [ZoneKey: Written] = [:]

    init(_ memory: RecordMemory) {
        self.memory = memory
        memory.begin()
    }

    // MARK: Prefetching

    /// Requests the records that jobs will need, unless they are cached.
    func want(_ names: [String], in zone: ZoneKey) {
        let remembered = self.memory.known(zone)
        self.prefetched.want(names, in: zone) { remembered?.record(named: $0) }
    }

    /// Sends the statement without waiting for it.
    func send(on connection: PostgreSQLConnection) throws(StorageFailure) {
        try self.prefetched.send(on: connection, bytesMax: Self.prefetchedBytes)
    }

    /// Takes the received rows after all responses have arrived.
    func settle(on connection: PostgreSQLConnection) throws(StorageFailure) {
        self.prefetched.forgetRemembered { !self.memory.isUnchanged($0.database) }
        try self.prefetched.settle(on: connection)
    }

    /// Maximum number of body bytes.
    private static let prefetchedBytes: Int64 = 8 * 1_024 * 1_024

    // MARK: Asking

    /// The record with a name, or its absence; `nil` if neither is known.
    func record(named name: String, in zone: ZoneKey) -> StoredRecord?? {
        self.record(named: name, in: zone, self.written[zone])
    }

    /// Records by name, up to the one that takes the total size of bodies beyond a bound; `nil` if
    /// one of them is not known.
    func records(named names: ArraySlice<String>, in zone: ZoneKey, bytesMax: Int) -> [StoredRecord?]? {
        let written = self.written[zone]
        return names.records(bytesMax: bytesMax) { self.record(named: $0, in: zone, written) }
    }

    private func record(named name: String, in zone: ZoneKey, _ written: Written?) -> StoredRecord?? {
        if let record = written?.record(named: name) { return record }
        if let record = self.prefetched.record(named: name, in: zone) { return record }
        // The cache does not know whether a record is absent.
        guard self.memory.isUnchanged(zone.database),
            let record = self.memory.known(zone)?.record(named: name)
        else { return nil }
        return record
    }

    // MARK: Changes

    /// Notes changes of a zone, so that a job finds the records of earlier jobs.
    func note(_ writes: RecordWrites, numbers: [Int64], in zone: ZoneKey) {
        let written = self.written[zone] ?? Written()
        self.written[zone] = written
        for (save, number) in zip(writes.saves, numbers) {
            var record = save.record
            record.number = number
            written.append(record, named: save.name)
        }
        for delete in writes.deletes { written.append(nil, named: delete.name) }
    }

    /// Notes that all changes were committed, with the last positions of their databases.
    func committed(_ positions: [DatabaseID: Int64]) {
        self.memory.commit(positions, self.written.mapValues(\.records))
    }
}
