import RecordModel
import StorageContract

/// Stale positions of many transactions, sorted, so that each block is rewritten once.
struct StaleRound {
    struct Zone {
        let key: ZoneKey
        /// Ascending.
        var positions: [Int64]
    }

    private(set) var zones: [Zone]
    /// The rows of `stale_change` up to this one are in the round.
    let lastRow: Int64
    /// The next item: a zone, and an offset in its positions.
    private var zone = 0
    private var offset = 0

    init(zones: [ZoneKey: [Int64]], lastRow: Int64) {
        // By key, in the file's order.
        self.zones = zones.map { Zone(key: $0.key, positions: $0.value.sorted()) }
            .sorted { ($0.key.database.rawValue, $0.key.number) < ($1.key.database.rawValue, $1.key.number) }
        self.lastRow = lastRow
    }

    /// The first remaining position.
    var next: (zone: ZoneKey, position: Int64)? {
        guard self.zone < self.zones.count else { return nil }
        return (self.zones[self.zone].key, self.zones[self.zone].positions[self.offset])
    }

    /// Takes the remaining positions of a zone up to a bound, ascending.
    mutating func take(upTo position: Int64, in key: ZoneKey) -> ArraySlice<Int64> {
        guard self.zone < self.zones.count, self.zones[self.zone].key == key else { return [] }
        let positions = self.zones[self.zone].positions
        let start = self.offset
        while self.offset < positions.count, positions[self.offset] <= position { self.offset += 1 }
        if self.offset == positions.count {
            self.zone += 1
            self.offset = 0
            return positions[start...]
        }
        return positions[start..<self.offset]
    }
}
