import StorageContract

/// The keys of one index's entries in one zone, in the table `index_entry`.
///
/// A key is the database, the zone, the index and the value as bytes, which SQLite compares in
/// order. A number below 240 is one byte. A larger one is a length byte and that many bytes, the
/// highest first. So encoded numbers sort like the numbers, and none is a prefix of another.
struct EntryKey {
    /// The bytes that all keys begin with.
    let prefix: [UInt8]
    /// The first key after them.
    let end: [UInt8]

    init(_ index: Int64, in zone: ZoneKey) {
        self.prefix = Self.prefix(index, in: zone)
        self.end = Self.prefix(index &+ 1, in: zone)
    }

    /// The key of a value.
    subscript(value: [UInt8]) -> [UInt8] { self.prefix + value }

    /// The keys of all indexes of a zone: from the first up to, but not including, the second.
    static func range(of zone: ZoneKey) -> (from: [UInt8], upTo: [UInt8]) {
        var from: [UInt8] = []
        var upTo: [UInt8] = []
        for number in [zone.database.rawValue, zone.number] { self.append(number, to: &from) }
        for number in [zone.database.rawValue, zone.number &+ 1] { self.append(number, to: &upTo) }
        return (from, upTo)
    }

    private static func prefix(_ index: Int64, in zone: ZoneKey) -> [UInt8] {
        var prefix: [UInt8] = []
        prefix.reserveCapacity(32)
        for number in [zone.database.rawValue, zone.number, index] { self.append(number, to: &prefix) }
        return prefix
    }

    /// Database, zone, index and value of a key; `nil` if it is malformed.
    static func parts(of key: [UInt8]) -> (zone: ZoneKey, index: Int64, value: [UInt8])? {
        var rest = key[...]
        guard let database = Self.takeNumber(from: &rest), let zone = Self.takeNumber(from: &rest),
            let index = Self.takeNumber(from: &rest)
        else { return nil }
        return (ZoneKey(database: DatabaseID(rawValue: database), number: zone), index, Array(rest))
    }

    private static func takeNumber(from bytes: inout ArraySlice<UInt8>) -> Int64? {
        guard let first = bytes.popFirst() else { return nil }
        guard first > Self.byteMax else { return Int64(first) }
        let count = Int(first) - Int(Self.byteMax)
        guard count <= 8, bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count).reduce(0) { $0 << 8 | Int64($1) }
    }

    private static let byteMax: UInt64 = 239

    /// A number is negative only in a damaged row: then there are no entries.
    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        let number = UInt64(bitPattern: number)
        guard number > self.byteMax else { return bytes.append(UInt8(number)) }
        let count = (64 - number.leadingZeroBitCount + 7) / 8
        bytes.append(UInt8(self.byteMax) + UInt8(count))
        for shift in stride(from: 8 * (count - 1), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }
}
