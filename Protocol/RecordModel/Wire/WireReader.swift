/// Reads the Protocol Buffers wire format, and checks every bound.
///
/// It reads a part of the bytes, from `position` to `end`. Both are offsets in the whole, so a
/// range that a reader returns is valid for all readers of the same bytes. A reader borrows the
/// bytes without reference counting. Another reader (`part`) reads a nested message.
///
/// After an error the reader must not be used.
@usableFromInline
package struct WireReader: ~Escapable {
    /// All bytes, including those outside the part.
    @usableFromInline package let bytes: Span<UInt8>
    /// At most `end`.
    @inlinable package var position: Int { self.next }
    @usableFromInline package let end: Int
    @usableFromInline var next: Int

    /// - Precondition: The range lies within the bytes.
    @inlinable
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>, in range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
        self.bytes = bytes
        self.next = range.lowerBound
        self.end = range.upperBound
    }

    @inlinable
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) {
        self.init(bytes, in: 0..<bytes.count)
    }

    /// A reader of another part of the same bytes.
    @inlinable
    @_lifetime(copy self)
    package func part(_ range: Range<Int>) -> WireReader {
        WireReader(self.bytes, in: range)
    }

    @inlinable package var isAtEnd: Bool { self.next == self.end }

    @inlinable
    @inline(__always)
    package mutating func byte() throws(WireFault) -> UInt8 {
        guard self.next < self.end else { throw .truncated }
        let byte = self.bytes[self.next]
        self.next &+= 1
        return byte
    }

    /// Reads a variable-length integer of 1 to 10 bytes.
    ///
    /// Bits above the 64th are dropped, as Protocol Buffers requires.
    @inlinable
    @inline(__always)
    package mutating func varint() throws(WireFault) -> UInt64 {
        let first = try self.byte()
        return first < 0x80 ? UInt64(first) : try self.varint(after: first)
    }

    /// Reads a minimal variable-length integer.
    @inlinable
    @inline(__always)
    package mutating func minimalVarint() throws(WireFault) -> UInt64 {
        let first = try self.byte()
        guard first >= 0x80 else { return UInt64(first) }
        let start = self.next
        let value = try self.varint(after: first)
        let last = self.bytes[self.next &- 1]
        // The last of ten bytes has one bit; `varint` drops the others.
        guard last != 0, last == 1 || self.next &- start < 9 else { throw .overlong }
        return value
    }

    @inlinable
    mutating func varint(after first: UInt8) throws(WireFault) -> UInt64 {
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        var position = self.next
        let end = min(self.end, position &+ 9)
        while position < end {
            let byte = self.bytes[position]
            position &+= 1
            value |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 {
                self.next = position
                return value
            }
            shift &+= 7
        }
        throw position == self.end ? .truncated : .overlong
    }

    /// Reads eight bytes, the least significant one first.
    @inlinable
    package mutating func fixed64() throws(WireFault) -> UInt64 {
        let range = try self.skip(8)
        // "Unsafe" refers to the choice of a type alone, and any bytes are a valid number: the
        // bounds are checked.
        return UInt64(
            littleEndian: self.bytes.bytes.unsafeLoadUnaligned(
                fromByteOffset: range.lowerBound,
                as: UInt64.self
            )
        )
    }

    /// Skips that many bytes.
    ///
    /// Returns their range.
    @inlinable
    @inline(__always)
    package mutating func skip(_ count: UInt64) throws(WireFault) -> Range<Int> {
        let start = self.next
        guard count <= UInt64(truncatingIfNeeded: self.end &- start) else { throw .truncated }
        self.next = start &+ Int(truncatingIfNeeded: count)
        return Range(uncheckedBounds: (start, self.next))
    }

    /// Skips a length and that many bytes.
    ///
    /// Returns the range of the bytes.
    @inlinable
    @inline(__always)
    package mutating func delimited() throws(WireFault) -> Range<Int> {
        try self.skip(self.varint())
    }

    /// Reads the tag of the next field, 8 × number + wire type, or returns `nil` at the end.
    @inlinable
    @inline(__always)
    package mutating func tag() throws(WireFault) -> UInt32? {
        guard !self.isAtEnd else { return nil }
        guard let tag = UInt32(exactly: try self.varint()), tag >= 8 else { throw .tag }
        return tag
    }

    /// Skips the value after a tag.
    ///
    /// Groups are refused: version 3 of the language does not have them.
    @inlinable
    package mutating func skipValue(ofTag tag: UInt32) throws(WireFault) {
        switch tag & 7 {
        case 0: _ = try self.varint()
        case 1: _ = try self.skip(8)
        case 2: _ = try self.delimited()
        case 5: _ = try self.skip(4)
        default: throw .tag
        }
    }
}
