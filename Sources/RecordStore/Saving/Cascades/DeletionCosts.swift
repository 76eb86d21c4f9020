import RecordModel

/// The index entries that go with each of some records, which are read a few at a time.
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

    /// What the next record costs, in entries; there is one.
    ///
    /// `nil` if there is none of its name, or if it isn't to go.
    mutating func next(
        _ definitions: inout DefinitionPlan,
        where isGoing: (References) -> Bool = { _ in true }
    ) throws(StorageFailure) -> Int? {
        if self.records.isEmpty {
            let names = Array(self.names[self.next...].prefix(PlannedZone.recordsReadMax))
            self.records = try self.zone.transaction.records(named: names, in: self.zone.key).reversed()
        }
        let name = self.names[self.next]
        self.next += 1
        guard let record = self.records.removeLast(),
            isGoing(References(body: record.body, parent: record.parent))
        else { return nil }
        let fields = try definitions.fields(ofType: record.recordType)
        return IndexChanges(from: record, to: nil, named: name, definitions: fields).removedCost
    }
}
