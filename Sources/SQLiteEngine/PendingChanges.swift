import RecordStore

/// The order of what a transaction has written, before it is written down as a whole.
struct PendingChanges {
    struct Zone {
        let key: ZoneKey
        /// Ascending.
        fileprivate(set) var entries: [ChangeBlock.Entry] = []
        /// Positions that entries of earlier transactions have and no record has any more; in no order.
        fileprivate(set) var stale: [Int64] = []
        /// The last change, deletions included.
        fileprivate(set) var position: Int64 = 0
        /// How many records, and bytes of their bodies, there are more than before.
        fileprivate(set) var recordsAdded = 0
        fileprivate(set) var bytesAdded = 0
    }

    private(set) var zones: [Zone] = []
    private var offsets: [ZoneKey: Int] = [:]
    /// The zone that was asked for last: most requests name one.
    private var last = 0

    var isEmpty: Bool { self.zones.isEmpty }

    /// Notes that a record has its last change at a position above all before.
    mutating func add(position: Int64, record: Int64, in zone: ZoneKey) {
        let offset = self.offset(of: zone)
        self.zones[offset].entries.append(ChangeBlock.Entry(position: position, record: record))
        self.zones[offset].position = position
    }

    /// Notes that a record was deleted at a position above all before.
    mutating func delete(at position: Int64, in zone: ZoneKey) {
        self.zones[self.offset(of: zone)].position = position
    }

    /// Notes what the zone has more or less.
    mutating func count(records: Int, bytes: Int, in zone: ZoneKey) {
        let offset = self.offset(of: zone)
        self.zones[offset].recordsAdded += records
        self.zones[offset].bytesAdded += bytes
    }

    /// Notes that a record has its last change there no more.
    mutating func remove(position: Int64, in zone: ZoneKey) {
        let offset = self.offset(of: zone)
        guard let first = self.zones[offset].entries.first, position >= first.position else {
            self.zones[offset].stale.append(position)
            return
        }
        // Changed twice in one transaction: nobody has seen the first.
        let place = self.zones[offset].entries.partitioningIndex { $0.position >= position }
        guard place < self.zones[offset].entries.count else { return }
        self.zones[offset].entries.remove(at: place)
    }

    mutating func removeAll() {
        self.zones.removeAll(keepingCapacity: true)
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
        self.zones.append(Zone(key: zone))
        return self.last
    }
}

extension Array {
    /// The first place from which on the predicate holds; it holds for all that follow.
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
