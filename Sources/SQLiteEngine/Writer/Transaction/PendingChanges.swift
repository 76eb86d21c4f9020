import StorageContract

/// The order of a transaction's changes, before it is written as a whole.
struct PendingChanges {
    struct Zone {
        let key: ZoneKey
        /// Ascending.
        fileprivate(set) var entries: [ChangeBlock.Entry] = []
        /// Positions of earlier transactions' entries that became stale; unordered.
        fileprivate(set) var stale: [Int64] = []
        /// The last change, deletions included.
        fileprivate(set) var position: Int64 = 0
        /// Growth in the number of records, and in the bytes of their bodies.
        fileprivate(set) var recordsAdded = 0
        fileprivate(set) var bytesAdded = 0
        /// In `RowBytes`.
        fileprivate(set) var rowBytesAdded = 0
        /// The index of its database in `usages`.
        fileprivate let usage: Int
    }

    /// The growth of a database, positive or negative.
    struct Usage {
        let database: DatabaseID
        fileprivate(set) var records = 0
        fileprivate(set) var recordBytes = 0
        /// Incomplete uploads included.
        fileprivate(set) var assets = 0
        fileprivate(set) var assetBytes: Int64 = 0
        /// In `RowBytes`, those of zones included.
        fileprivate(set) var rowBytes = 0

        var bytes: Int64 {
            Int64(self.recordBytes).adding(clamped: Int64(self.rowBytes)).adding(clamped: self.assetBytes)
        }
        var isEmpty: Bool {
            self.records == 0 && self.recordBytes == 0 && self.assets == 0 && self.assetBytes == 0
                && self.rowBytes == 0
        }
    }

    private(set) var zones: [Zone] = []
    private(set) var usages: [Usage] = []
    private var usageOffsets: [DatabaseID: Int] = [:]
    private var offsets: [ZoneKey: Int] = [:]
    /// The last zone used: most requests name one.
    private var last = 0

    var isEmpty: Bool { self.zones.isEmpty && self.usages.isEmpty }

    /// Notes that a record has its last change at a position above all earlier ones.
    mutating func add(position: Int64, record: Int64, in zone: ZoneKey) {
        let offset = self.offset(of: zone)
        self.zones[offset].entries.append(ChangeBlock.Entry(position: position, record: record))
        self.zones[offset].position = position
    }

    /// Notes that a record was deleted at a position above all earlier ones.
    mutating func delete(at position: Int64, in zone: ZoneKey) {
        self.zones[self.offset(of: zone)].position = position
    }

    /// Notes a zone's new position, above all earlier ones.
    mutating func move(to position: Int64, in zone: ZoneKey) {
        self.zones[self.offset(of: zone)].position = position
    }

    /// Notes the growth of a zone.
    mutating func count(records: Int, bytes: Int, rowBytes: Int, in zone: ZoneKey) {
        let offset = self.offset(of: zone)
        self.zones[offset].recordsAdded += records
        self.zones[offset].bytesAdded += bytes
        self.zones[offset].rowBytesAdded += rowBytes
        let usage = self.zones[offset].usage
        self.usages[usage].records += records
        self.usages[usage].recordBytes += bytes
        self.usages[usage].rowBytes += rowBytes
    }

    /// Notes that rows of the zone were added or removed.
    mutating func count(rowBytes: Int, in zone: ZoneKey) {
        let offset = self.offset(of: zone)
        self.zones[offset].rowBytesAdded += rowBytes
        self.usages[self.zones[offset].usage].rowBytes += rowBytes
    }

    /// Notes that rows of the database that belong to no zone were added or removed.
    mutating func count(rowBytes: Int, in database: DatabaseID) {
        self.usages[self.usageOffset(of: database)].rowBytes += rowBytes
    }

    /// Notes that a zone was deleted, and returns its total contents.
    ///
    /// Its database still counts them. The parameters state the amounts before the transaction.
    mutating func drop(
        records: Int64,
        recordBytes: Int64,
        rowBytes: Int64,
        of zone: ZoneKey
    ) -> StoredAmount {
        let offset = self.offset(of: zone)
        let pending = self.zones[offset]
        (self.zones[offset].recordsAdded, self.zones[offset].bytesAdded) = (0, 0)
        self.zones[offset].rowBytesAdded = 0
        return StoredAmount(
            records: records + Int64(pending.recordsAdded),
            recordBytes: recordBytes + Int64(pending.bytesAdded),
            assets: 0,
            assetBytes: 0,
            rowBytes: rowBytes + Int64(pending.rowBytesAdded)
        )
    }

    /// Notes a database's growth outside zones.
    mutating func count(_ growth: StoredAmount, in database: DatabaseID) {
        func sum(_ count: Int, _ added: Int64) -> Int { Int(Int64(count).adding(clamped: added)) }
        let offset = self.usageOffset(of: database)
        var usage = self.usages[offset]
        usage.records = sum(usage.records, growth.records)
        usage.recordBytes = sum(usage.recordBytes, growth.recordBytes)
        usage.assets = sum(usage.assets, growth.assets)
        usage.assetBytes = usage.assetBytes.adding(clamped: growth.assetBytes)
        usage.rowBytes = sum(usage.rowBytes, growth.rowBytes)
        self.usages[offset] = usage
    }

    /// The growth of a database; `nil` if there is none.
    func usage(of database: DatabaseID) -> Usage? { self.usageOffsets[database].map { self.usages[$0] } }

    /// Notes that a record's last change is no longer at this position.
    mutating func remove(position: Int64, in zone: ZoneKey) {
        let offset = self.offset(of: zone)
        guard let first = self.zones[offset].entries.first, position >= first.position else {
            self.zones[offset].stale.append(position)
            return
        }
        // The record changed twice in one transaction: no reader has seen the first change.
        let index = self.zones[offset].entries.partitioningIndex { $0.position >= position }
        guard index < self.zones[offset].entries.count else { return }
        self.zones[offset].entries.remove(at: index)
    }

    mutating func removeAll() {
        self.zones.removeAll(keepingCapacity: true)
        self.usages.removeAll(keepingCapacity: true)
        self.usageOffsets.removeAll(keepingCapacity: true)
        self.offsets.removeAll(keepingCapacity: true)
        self.last = 0
    }

    private mutating func offset(of zone: ZoneKey) -> Int {
        if self.last < self.zones.count, self.zones[self.last].key == zone { return self.last }
        if let known = self.offsets[zone] {
            self.last = known
            return known
        }
        self.last = self.zones.count
        self.offsets[zone] = self.last
        self.zones.append(Zone(key: zone, usage: self.usageOffset(of: zone.database)))
        return self.last
    }

    private mutating func usageOffset(of database: DatabaseID) -> Int {
        if let last = self.usages.last, last.database == database { return self.usages.count - 1 }
        if let known = self.usageOffsets[database] { return known }
        self.usageOffsets[database] = self.usages.count
        self.usages.append(Usage(database: database))
        return self.usages.count - 1
    }
}

extension Array {
    /// The first index at which the predicate is true; it must be true for all later ones.
    func partitioningIndex(where holds: (Element) -> Bool) -> Int {
        var low = 0
        var high = self.count
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
