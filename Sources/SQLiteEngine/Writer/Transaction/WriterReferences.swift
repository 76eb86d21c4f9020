import RecordModel
import StorageContract

/// References between records of a zone, stored in the table `hold`.
final class WriterReferences {
    private let statements: ReferenceStatements
    private let order: ChangeOrder
    private let meter: WorkMeter

    init(
        _ connection: OpaquePointer,
        order: ChangeOrder,
        meter: WorkMeter
    ) throws(StorageFailure) {
        self.statements = try ReferenceStatements(connection)
        self.order = order
        self.meter = meter
    }

    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]] {
        let statement = self.statements.find
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        var lists: [[Referrer]] = []
        lists.reserveCapacity(targets.count)
        var left = limit
        for target in targets where left > 0 {
            statement.bind(3, target)
            statement.bind(4, lists.isEmpty ? name : "")
            statement.bind(5, Int64(left))
            var referrers: [Referrer] = []
            while try statement.step() {
                let kinds = ReferenceKinds(rawValue: UInt8(truncatingIfNeeded: statement.integer(1)))
                referrers.append(Referrer(name: statement.text(0), kinds: kinds))
            }
            self.meter.done += 1 + referrers.count / 8
            left -= referrers.count
            lists.append(referrers)
        }
        return lists
    }

    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int] {
        let statement = self.statements.count
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(4, Int64(ReferenceKinds.deleteSelf.rawValue))
        statement.bind(5, Int64(limit))
        var counts: [Int] = []
        counts.reserveCapacity(targets.count)
        for target in targets {
            statement.bind(3, target)
            _ = try statement.step()
            defer { statement.reset() }
            let count = Int(statement.integer(0))
            self.meter.done += 1 + count / 64
            counts.append(count)
        }
        return counts
    }

    /// Removes all references of a record, which takes a scan of the zone's references.
    func remove(by referrer: String, in zone: ZoneKey) throws(StorageFailure) {
        let statement = self.statements.deleteAll
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, referrer)
        while try statement.step() {
            self.meter.done += 1
            let bytes = RowBytes.reference(of: statement.text(0), by: referrer)
            self.order.pending.count(rowBytes: -bytes, in: zone)
        }
    }

    func set(
        _ reference: ReferenceChange,
        by referrer: String,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        self.meter.done += 1
        let kinds = reference.kinds
        let statement = kinds.isEmpty ? self.statements.delete : self.statements.set
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, reference.target)
        statement.bind(4, referrer)
        if !kinds.isEmpty { statement.bind(5, Int64(kinds.rawValue)) }
        try statement.run()
        let bytes = RowBytes.reference(of: reference.target, by: referrer)
        if kinds.isEmpty {
            if statement.changesCount > 0 { self.order.pending.count(rowBytes: -bytes, in: zone) }
        } else if reference.before == nil {
            self.order.pending.count(rowBytes: bytes, in: zone)
        }
    }
}
