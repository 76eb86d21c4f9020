import RecordModel
import RecordStore

/// Records that a transaction need not read: those that it has written, those that were prefetched, and
/// those that the writer remembers.
///
/// Used by the writer's thread.
final class KnownRecords {
    /// Records of a zone that the transaction has saved, and those that it has deleted, which are `nil`.
    private final class Written {
        private var names = IndexedNames()
        private(set) var records: [(name: String, record: StoredRecord?)] = []

        func append(_ record: StoredRecord?, named name: String) {
            self.names.append(name)
            self.records.append((name, record))
        }

        func record(named name: String) -> StoredRecord?? {
            self.names.lastPlace(of: name).map { self.records[$0].record }
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

    /// Wants the records that jobs will ask for, unless they are remembered.
    func want(_ names: [String], in zone: ZoneKey) {
        let remembered = self.memory.known(zone)
        self.prefetched.want(names, in: zone) { remembered?.record(named: $0) }
    }

    /// Sends the statement, and does not wait for it.
    func send(on connection: PostgreSQLConnection) throws(StorageFailure) {
        try self.prefetched.send(on: connection, bytesMax: Self.prefetchedBytes)
    }

    /// Takes the rows that came, once all answers are there.
    func settle(on connection: PostgreSQLConnection) throws(StorageFailure) {
        self.prefetched.forgetRemembered { !self.memory.isUnchanged($0.database) }
        try self.prefetched.settle(on: connection)
    }

    /// Of bodies.
    private static let prefetchedBytes: Int64 = 8 * 1_024 * 1_024

    // MARK: Asking

    /// The record with a name, or that there is none; `nil` if that is not known.
    func record(named name: String, in zone: ZoneKey) -> StoredRecord?? {
        self.record(named: name, in: zone, self.written[zone])
    }

    /// Records by name, up to the one with which the bodies take more than a bound; `nil` if one of them is
    /// not known.
    func records(named names: ArraySlice<String>, in zone: ZoneKey, bytesMax: Int) -> [StoredRecord?]? {
        let written = self.written[zone]
        return names.records(bytesMax: bytesMax) { self.record(named: $0, in: zone, written) }
    }

    private func record(named name: String, in zone: ZoneKey, _ written: Written?) -> StoredRecord?? {
        if let record = written?.record(named: name) { return record }
        if let record = self.prefetched.record(named: name, in: zone) { return record }
        // The memory does not tell whether a record is absent.
        guard self.memory.isUnchanged(zone.database),
            let record = self.memory.known(zone)?.record(named: name)
        else { return nil }
        return record
    }

    // MARK: Changes

    /// Notes changes of a zone: so a job finds the records of the jobs before it.
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
