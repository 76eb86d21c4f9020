import RecordModel

/// Positions of stale changes in the row of their zone, until they are enough for a row of
/// `stale_change`.
///
///     positions = *position            unsigned LEB128, in any order
struct StalePositions {
    /// With its other columns, the row stays on one page.
    static let bytesMax = 256
    /// More positions than that of one transaction have a row of `stale_change` at once.
    static let added = 32

    private(set) var bytes: [UInt8] = []

    init() {}

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Ends before what is malformed: an entry that is never taken out does no harm.
    var positions: [Int64] {
        var reader = WireReader(self.bytes.span)
        var positions: [Int64] = []
        while !reader.isAtEnd, let position = try? reader.varint() {
            positions.append(Int64(bitPattern: position))
        }
        return positions
    }

    /// Adds positions, if there is room.
    mutating func add(_ positions: [Int64]) -> Bool {
        var writer = WireWriter()
        for position in positions { writer.putVarint(UInt64(bitPattern: position)) }
        guard self.bytes.count + writer.bytes.count <= Self.bytesMax else { return false }
        self.bytes += writer.bytes
        return true
    }
}
