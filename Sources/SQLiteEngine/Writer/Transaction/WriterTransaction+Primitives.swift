import StorageContract

/// The primitives, each implemented by a part.
extension WriterTransaction: WriteTransaction {
    var positionsTaken: Int { self.positions.taken }

    /// The connection of the request that is being executed.
    var origin: ChangeOrigin? {
        get { self.reports.current.origin }
        set { self.reports.current.origin = newValue }
    }

    // MARK: Zones

    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        try self.zones.key(of: name, in: database)
    }

    func insertZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey {
        try self.zones.insert(named: name, in: database, at: position)
    }

    func deleteZone(_ zone: ZoneKey, named name: String) throws(StorageFailure) -> StoredAmount {
        try self.zones.delete(zone, named: name)
    }

    func advance(_ zone: ZoneKey, to position: Int64) { self.order.pending.move(to: position, in: zone) }

    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 {
        try self.zones.lastChange(in: database, exceptNamed: name)
    }

    // MARK: Records and references

    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.records.find(name, in: zone)
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.records.find(names, in: zone, bytesMax: bytesMax)
    }

    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [Int64] {
        try self.records.apply(
            writes,
            to: zone,
            in: environment,
            nowMilliseconds: self.nowMilliseconds
        )
    }

    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]] {
        try self.references.referrers(of: targets, in: zone, behind: name, limit: limit)
    }

    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int] {
        try self.references.countsOfDeleteSelfReferrers(of: targets, in: zone, limit: limit)
    }

    // MARK: Types and indexes

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        try self.names.types(named: names, in: environment)
    }

    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 {
        try self.entries.takeIndexNumbers(count)
    }

    // MARK: Positions and the observer

    func takePosition(in database: DatabaseID) throws(StorageFailure) -> Int64 {
        try self.positions.take(in: database)
    }

    func position(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        try self.reports.startingPosition(of: database)
    }

    func isWatched(_ database: DatabaseID) -> Bool { self.reports.isWatched(database) }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.reports.note(kind, at: position, in: database)
    }

    // MARK: Usage

    func count(_ growth: StoredAmount, in database: DatabaseID) {
        self.order.pending.count(growth, in: database)
    }

    func count(rowBytes: Int, in zone: ZoneKey) { self.order.pending.count(rowBytes: rowBytes, in: zone) }

    func bytesStored(
        under quota: Quota,
        with database: DatabaseID
    ) throws(StorageFailure) -> Int64? {
        try self.usage.bytesStored(under: quota, with: database)
    }
}
