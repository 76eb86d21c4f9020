import StorageContract

/// Index entry changes that a transaction has yet to write.
///
/// They are written roughly in index order, which revisits the same pages. A change followed by
/// another of the same entry is never written. So a record that is saved ten times in a transaction
/// costs one removal and one insertion.
struct EntryQueue {
    struct Change {
        let zone: ZoneKey
        let entry: IndexEntry
        let record: Int64
        let isAdded: Bool

        func isOfSameEntry(as other: Change) -> Bool {
            self.record == other.record && self.zone == other.zone && self.entry == other.entry
        }
    }

    /// The sort key of a change: equal entries are neighbours, in the order of their changes.
    private struct Slot: Comparable {
        let zone: Int
        let index: Int64
        /// The first bytes of the value; the rest does not affect which page it is on.
        let high: UInt64
        let low: UInt64
        let record: Int64
        let offset: Int

        static func < (left: Slot, right: Slot) -> Bool {
            if left.zone != right.zone { return left.zone < right.zone }
            if left.index != right.index { return left.index < right.index }
            if left.high != right.high { return left.high < right.high }
            if left.low != right.low { return left.low < right.low }
            if left.record != right.record { return left.record < right.record }
            return left.offset < right.offset
        }
    }

    private var changes: [Change] = []
    private var slots: [Slot] = []
    /// Indexes of zones, in order of arrival.
    private var zones: [ZoneKey: Int] = [:]
    private var lastZone: (key: ZoneKey, number: Int)?

    /// The bound at which queued changes are written, to limit memory.
    private static let changesMax = 20_000

    var isFull: Bool { self.changes.count >= Self.changesMax }
    var isEmpty: Bool { self.changes.isEmpty }
    /// Maximum growth of the file by queued changes.
    var bytesMax: Int64 { Int64(self.changes.count * (RowBytes.entryBase + IndexEntry.valueBytesMax)) }

    mutating func append(_ change: Change) {
        self.slots.append(
            Slot(
                zone: self.number(of: change.zone),
                index: change.entry.index,
                high: Self.bits(change.entry.value, from: 0),
                low: Self.bits(change.entry.value, from: 8),
                record: change.record,
                offset: self.changes.count
            )
        )
        self.changes.append(change)
    }

    mutating func removeAll() {
        self.changes.removeAll(keepingCapacity: true)
        self.slots.removeAll(keepingCapacity: true)
        self.zones.removeAll(keepingCapacity: true)
        self.lastZone = nil
    }

    /// Passes the effective changes to `write`, and forgets all.
    mutating func drain(_ write: (Change) throws(StorageFailure) -> Void) throws(StorageFailure) {
        self.slots.sort()
        defer { self.removeAll() }
        for (number, slot) in self.slots.enumerated() {
            let change = self.changes[slot.offset]
            let next = number + 1
            if next < self.slots.count, change.isOfSameEntry(as: self.changes[self.slots[next].offset]) {
                continue
            }
            try write(change)
        }
    }

    private mutating func number(of zone: ZoneKey) -> Int {
        if let last = self.lastZone, last.key == zone { return last.number }
        let number = self.zones[zone] ?? self.zones.count
        self.zones[zone] = number
        self.lastZone = (zone, number)
        return number
    }

    private static func bits(_ value: [UInt8], from start: Int) -> UInt64 {
        var bits: UInt64 = 0
        for offset in start..<start + 8 {
            bits = bits << 8 | (offset < value.count ? UInt64(value[offset]) : 0)
        }
        return bits
    }
}
