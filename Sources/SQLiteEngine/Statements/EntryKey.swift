import RecordStore

/// The keys of the entries of one index in one zone, in the table `index_entry`.
///
/// A key is the database, the zone, the index and the value as bytes, in whose order SQLite compares
/// them. A number below 240 is a byte. A larger one is a byte that says how many follow, and those,
/// the highest first. So the bytes of numbers are in the order of the numbers, and no number's bytes
/// begin another's.
struct EntryKey {
    /// The bytes that all keys begin with.
    let prefix: [UInt8]
    /// The first key behind them.
    let end: [UInt8]

    init(_ index: Int64, in zone: ZoneKey) {
        self.prefix = Self.prefix(index, in: zone)
        self.end = Self.prefix(index + 1, in: zone)
    }

    /// The key of a value.
    subscript(value: [UInt8]) -> [UInt8] { self.prefix + value }

    /// The keys of all indexes of a zone: from the first up to, but not including, the second.
    static func range(of zone: ZoneKey) -> (from: [UInt8], upTo: [UInt8]) {
        var from: [UInt8] = []
        var upTo: [UInt8] = []
        for number in [zone.database.rawValue, zone.number] { self.append(number, to: &from) }
        for number in [zone.database.rawValue, zone.number + 1] { self.append(number, to: &upTo) }
        return (from, upTo)
    }

    private static func prefix(_ index: Int64, in zone: ZoneKey) -> [UInt8] {
        var prefix: [UInt8] = []
        prefix.reserveCapacity(32)
        for number in [zone.database.rawValue, zone.number, index] { self.append(number, to: &prefix) }
        return prefix
    }

    private static let byteMax: Int64 = 239

    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        precondition(number >= 0, "no number in a key is negative")
        guard number > self.byteMax else { return bytes.append(UInt8(number)) }
        let count = (64 - number.leadingZeroBitCount + 7) / 8
        bytes.append(UInt8(self.byteMax) + UInt8(count))
        for shift in stride(from: 8 * (count - 1), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
    }
}
