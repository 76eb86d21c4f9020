import RecordModel

/// Changes of one zone, in order, as one row of `change` holds them.
///
///     entries = *entry                 the first counts from position 0
///     entry   = gap record             both unsigned LEB128; gap: from the position before
///
/// Four to six bytes a change; a row of its own would take a search and twenty bytes.
enum ChangeBlock {
    struct Entry: Hashable {
        var position: Int64
        /// The number of the record that changed at this position.
        ///
        /// If it is not the record's last change, the entry is stale.
        var record: Int64
    }

    /// Rows stay small enough for more than ten per page.
    static let entriesMax = 64

    static func encode(_ entries: some Collection<Entry>) -> [UInt8] {
        var writer = WireWriter()
        writer.reserveCapacity(8 + 6 * entries.count)
        var before: Int64 = 0
        for entry in entries {
            writer.putVarint(UInt64(bitPattern: entry.position &- before))
            writer.putVarint(UInt64(bitPattern: entry.record))
            before = entry.position
        }
        return writer.bytes
    }

    /// Returns `nil` if the bytes are malformed.
    static func decode(_ bytes: [UInt8]) -> [Entry]? {
        var entries: [Entry] = []
        entries.reserveCapacity(self.entriesMax)
        return self.visit(bytes.span) { entries.append($0) } ? entries : nil
    }

    /// Visits entries in place; `false` if the bytes are malformed.
    static func visit(_ bytes: Span<UInt8>, _ visit: (Entry) -> Void) -> Bool {
        var reader = WireReader(bytes)
        var position: Int64 = 0
        do {
            while !reader.isAtEnd {
                position &+= Int64(bitPattern: try reader.varint())
                visit(Entry(position: position, record: Int64(bitPattern: try reader.varint())))
            }
            return true
        } catch {
            return false
        }
    }

    /// Encodes positions without records, ascending.
    static func encode(positions: [Int64]) -> [UInt8] {
        var writer = WireWriter()
        writer.reserveCapacity(8 + 3 * positions.count)
        var before: Int64 = 0
        for position in positions {
            writer.putVarint(UInt64(bitPattern: position &- before))
            before = position
        }
        return writer.bytes
    }

    static func decode(positions bytes: [UInt8]) -> [Int64]? {
        var reader = WireReader(bytes.span)
        var positions: [Int64] = []
        var position: Int64 = 0
        do {
            while !reader.isAtEnd {
                position &+= Int64(bitPattern: try reader.varint())
                positions.append(position)
            }
            return positions
        } catch {
            return nil
        }
    }
}
