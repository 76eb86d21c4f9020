import RecordModel

extension RecordBody {
    /// Whether the other body has fields of the same names, types and encryption.
    ///
    /// Most saves replace the values of a record's fields: such a save defines nothing, and
    /// replaces the body as it is. So this is asked of nearly every save, on the writer's thread.
    /// It looks at the bytes themselves: up to its value, a field of the one body is that of the
    /// other.
    func hasSameFields(as other: RecordBody) -> Bool {
        // SAFETY: `FieldHead` reads below the counts only, and is gone when the call returns.
        self.bytes.withUnsafeBytes { ours in
            other.bytes.withUnsafeBytes { theirs in
                var our = 0
                var their = 0
                while our < ours.count, their < theirs.count {
                    guard let head = FieldHead(in: ours, at: our),
                        let end = head.end(ifAlso: theirs, at: their, ours)
                    else { return false }
                    our = head.end
                    their = end
                }
                return our == ours.count && their == theirs.count
            }
        }
    }
}

/// The header before the value of a field.
///
/// This is its name, whether it is encrypted, and the number of its value's type.
///
///     0x0A length  ( 0x0A length name [ 0x10 0x01 ] tag )  value
private struct FieldHead {
    /// The part in brackets; a tag has one byte, or two from number 16 on.
    let range: Range<Int>
    /// Behind the value.
    let end: Int

    // SAFETY: every offset is compared with the count before it is read.
    init?(in bytes: UnsafeRawBufferPointer, at start: Int) {
        var cursor = start + 1
        guard let length = Self.length(in: bytes, at: &cursor), length <= bytes.count - cursor else {
            return nil
        }
        self.end = cursor + length
        let first = cursor
        cursor += 1
        guard let nameBytes = Self.length(in: bytes, at: &cursor), nameBytes <= bytes.count - cursor else {
            return nil
        }
        cursor += nameBytes
        if cursor < bytes.count, bytes[cursor] == 0x10 { cursor += 2 }
        guard cursor < bytes.count else { return nil }
        cursor += bytes[cursor] < 0x80 ? 1 : 2
        guard cursor <= self.end else { return nil }
        self.range = first..<cursor
    }

    /// The end of the field of another body, if it begins with the same bytes.
    ///
    /// A head says itself how long it is, so one that has the bytes of this one needs no look at its parts.
    ///
    /// SAFETY: `range` was found in `ours`, and as many bytes are counted in `theirs` before they are read.
    func end(
        ifAlso theirs: UnsafeRawBufferPointer,
        at start: Int,
        _ ours: UnsafeRawBufferPointer
    ) -> Int? {
        var cursor = start + 1
        guard let length = Self.length(in: theirs, at: &cursor), length <= theirs.count - cursor,
            self.range.count <= length
        else { return nil }
        for offset in 0..<self.range.count
        where ours[self.range.lowerBound + offset] != theirs[cursor + offset] {
            return nil
        }
        return cursor + length
    }

    // SAFETY: every offset is compared with the count before it is read.
    private static func length(in bytes: UnsafeRawBufferPointer, at cursor: inout Int) -> Int? {
        var length = 0
        var shift = 0
        while cursor < bytes.count, shift < 28 {
            let byte = Int(bytes[cursor])
            cursor += 1
            length |= (byte & 0x7F) << shift
            if byte < 0x80 { return length }
            shift += 7
        }
        return nil
    }
}
