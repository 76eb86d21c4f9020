/// Changes of one zone, in order, as one row of `change` holds them.
///
///     entries = *entry                 the first counts from position 0
///     entry   = gap record             both unsigned LEB128; gap: from the position before
///
/// Four to six bytes a change, where a row of its own would take a search and twenty bytes.
enum ChangeBlock {
    struct Entry: Hashable {
        var position: Int64
        /// The number of the record that had its change at the position.
        ///
        /// It is the last change of the record, or else the entry is stale.
        var record: Int64
    }

    /// Rows stay small enough for more than ten in a page.
    static let entriesMax = 64

    static func encode(_ entries: some Collection<Entry>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + 6 * entries.count)
        var before: Int64 = 0
        for entry in entries {
            self.append(entry.position - before, to: &bytes)
            self.append(entry.record, to: &bytes)
            before = entry.position
        }
        return bytes
    }

    /// Returns `nil` if the bytes are not what was encoded.
    static func decode(_ bytes: [UInt8]) -> [Entry]? {
        var entries: [Entry] = []
        entries.reserveCapacity(self.entriesMax)
        // SAFETY: the bytes are lent for the call.
        let isWhole = bytes.withUnsafeBytes { self.visit($0) { entries.append($0) } }
        return isWhole ? entries : nil
    }

    /// Visits entries that are still where they were read; false: not what was encoded.
    // SAFETY: read within their bounds, until the call returns.
    static func visit(_ bytes: UnsafeRawBufferPointer, _ visit: (Entry) -> Void) -> Bool {
        var offset = 0
        var position: Int64 = 0
        while offset < bytes.count {
            guard let gap = self.next(bytes, &offset), let record = self.next(bytes, &offset) else {
                return false
            }
            position &+= gap
            visit(Entry(position: position, record: record))
        }
        return true
    }

    /// Positions alone, ascending.
    static func encode(positions: [Int64]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + 3 * positions.count)
        var before: Int64 = 0
        for position in positions {
            self.append(position - before, to: &bytes)
            before = position
        }
        return bytes
    }

    static func decode(positions bytes: [UInt8]) -> [Int64]? {
        var positions: [Int64] = []
        // SAFETY: the bytes are lent for the call.
        let isWhole = bytes.withUnsafeBytes { bytes in
            var offset = 0
            var position: Int64 = 0
            while offset < bytes.count {
                guard let gap = self.next(bytes, &offset) else { return false }
                position &+= gap
                positions.append(position)
            }
            return true
        }
        return isWhole ? positions : nil
    }

    private static func append(_ integer: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: integer)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    // SAFETY: read within their bounds, until the call returns.
    private static func next(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Int64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64, offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(bitPattern: value) }
            shift += 7
        }
        return nil
    }
}
