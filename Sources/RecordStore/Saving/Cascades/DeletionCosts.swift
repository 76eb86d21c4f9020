import RecordModel
import StorageContract

/// The records that go with deleted records.
struct DeletionCost {
    var entries = 0
    /// The bytes of bodies.
    var bytes = 0

    mutating func add(_ other: DeletionCost?) {
        guard let other else { return }
        self.entries += other.entries
        self.bytes += other.bytes
    }

    /// Whether it is more than one of several transactions should take.
    func exceedsTurn(_ bounds: Bounds) -> Bool {
        self.entries > bounds.cascadeEntriesMax || self.bytes > bounds.cascadeBytesMax
    }

    /// - Throws: `exceeds` if it is more than one request may take at once.
    func checkTogether(_ bounds: Bounds) throws(StorageFailure) {
        guard self.entries <= bounds.requestEntriesMax else {
            throw .exceeds(.indexEntries, work: self.entries)
        }
        guard self.bytes <= bounds.requestStoredBytesMax else {
            throw .exceeds(.storedBytes, work: WorkUnits.ofBytes(self.bytes))
        }
    }
}

/// The cost of each of some deletions; their records are read a few at a time.
struct DeletionCosts {
    private let zone: PlannedZone
    private let names: [String]
    private var next = 0
    /// Those that were read last, the next one last.
    private var records: [StoredRecord?] = []

    init(of names: [String], in zone: PlannedZone) {
        self.zone = zone
        self.names = names
    }

    /// The cost of the next record; there is one.
    ///
    /// `nil` if there is none of its name, or if it isn't to go.
    mutating func next(
        _ definitions: inout DefinitionPlan,
        where isGoing: (References) -> Bool = { _ in true }
    ) throws(StorageFailure) -> DeletionCost? {
        if self.records.isEmpty {
            self.records = try self.zone.transaction.records(
                named: self.names[self.next...].prefix(PlannedZone.recordsReadMax),
                in: self.zone.key,
                bytesMax: self.zone.rule.bounds.cascadeBytesMax
            ).reversed()
        }
        let name = self.names[self.next]
        self.next += 1
        guard let record = self.records.removeLast(),
            isGoing(References(body: record.body, parent: record.parent))
        else { return nil }
        let fields = try definitions.fields(ofType: record.recordType)
        let entries = IndexChanges(from: record, to: nil, named: name, definitions: fields)
        return DeletionCost(entries: entries.removedCost, bytes: record.body.bytes.count)
    }
}
