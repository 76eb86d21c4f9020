/// Takes encoded bytes in order, and writes the Protocol Buffers wire format.
@usableFromInline
package protocol WireOutput {
    mutating func put(_ byte: UInt8)

    mutating func put(_ first: UInt8, _ second: UInt8)

    mutating func put(_ bytes: Span<UInt8>)

    mutating func put(_ text: String)

    mutating func putVarint(_ value: UInt64)
}

// A field with its type's zero is omitted, as the language requires of fields without presence.
extension WireOutput {
    @inlinable
    package mutating func putVarint(_ value: UInt64) {
        value.forEachVarintByte { self.put($0) }
    }

    /// Writes eight bytes, the least significant one first.
    @inlinable
    package mutating func putFixed64(_ value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            self.put(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    @inlinable
    package mutating func put(_ text: String) {
        var text = text
        // SAFETY: the bytes are copied before the call returns.
        text.withUTF8 { self.put(Span(_unsafeElements: $0)) }
    }

    @inlinable
    @inline(__always)
    package mutating func putTag(_ field: some WireField) {
        let tag = field.tag
        if tag < 0x80 { self.put(UInt8(tag)) } else { self.putVarint(UInt64(tag)) }
    }

    /// Writes a tag and a number, usually two bytes.
    @inlinable
    @inline(__always)
    package mutating func putTag(_ field: some WireField, andVarint value: UInt64) {
        if field.tag < 0x80, value < 0x80 {
            self.put(UInt8(field.tag), UInt8(value))
        } else {
            self.putTag(field)
            self.putVarint(value)
        }
    }

    @inlinable
    @inline(__always)
    package mutating func writeField(_ field: some WireField, _ value: UInt64) {
        guard value != 0 else { return }
        self.writePresent(field, value)
    }

    @inlinable
    @inline(__always)
    package mutating func writeField(_ field: some WireField, _ value: UInt32) {
        self.writeField(field, UInt64(value))
    }

    @inlinable
    @inline(__always)
    package mutating func writeField(_ field: some WireField, _ value: Int64) {
        self.writeField(field, UInt64(bitPattern: value))
    }

    @inlinable
    package mutating func writeField(_ field: some WireField, _ isSet: Bool) {
        self.writeField(field, isSet ? 1 : 0 as UInt64)
    }

    @inlinable
    package mutating func writeField(_ field: some WireField, _ value: Double) {
        guard value.bitPattern != 0 else { return }
        self.writePresent(field, value)
    }

    @inlinable
    package mutating func writeField(_ field: some WireField, _ text: String) {
        guard !text.isEmpty else { return }
        self.writeElement(field, text)
    }

    @inlinable
    package mutating func writeField(_ field: some WireField, _ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        self.writeElement(field, bytes.span)
    }

    /// Writes a list of non-negative numbers.
    @inlinable
    package mutating func writePacked(_ field: some WireField, _ numbers: [some FixedWidthInteger]) {
        guard !numbers.isEmpty else { return }
        self.writeHead(field, bytes: numbers.reduce(0) { $0 + UInt64($1).varintBytes })
        for number in numbers { self.putVarint(UInt64(number)) }
    }

    /// Writes a number, even if it is 0.
    @inlinable
    @inline(__always)
    package mutating func writePresent(_ field: some WireField, _ value: UInt64) {
        self.putTag(field, andVarint: value)
    }

    @inlinable
    package mutating func writePresent(_ field: some WireField, _ isSet: Bool) {
        self.writePresent(field, isSet ? 1 : 0 as UInt64)
    }

    @inlinable
    package mutating func writePresent(_ field: some WireField, _ value: Double) {
        self.putTag(field)
        self.putFixed64(value.bitPattern)
    }

    /// Writes text, even if it is empty.
    @inlinable
    package mutating func writeElement(_ field: some WireField, _ text: String) {
        self.writeHead(field, bytes: text.utf8.count)
        self.put(text)
    }

    /// Writes bytes, or an encoded message.
    @inlinable
    @inline(__always)
    package mutating func writeElement(_ field: some WireField, _ bytes: Span<UInt8>) {
        self.writeHead(field, bytes: bytes.count)
        self.put(bytes)
    }

    /// Writes a tag and the length of the contents to follow.
    @inlinable
    @inline(__always)
    package mutating func writeHead(_ field: some WireField, bytes count: Int) {
        self.putTag(field, andVarint: UInt64(count))
    }
}

/// Encoded bytes that can still be moved.
@usableFromInline
package protocol GrowingWireOutput: WireOutput {
    /// Number of bytes so far.
    var byteCount: Int { get }

    mutating func replace(_ byte: UInt8, at index: Int)

    /// Moves all bytes from an index on back, to make room for `count` bytes with undefined
    /// contents.
    mutating func makeRoom(_ count: Int, at index: Int)
}

extension GrowingWireOutput {
    /// Writes a message, even if it is empty; its length is known after its contents are written.
    ///
    /// The contents are written after one byte for the length, and moved if the length takes more.
    @inlinable
    package mutating func writeMessage(_ field: some WireField, _ contents: (inout Self) -> Void) {
        self.putTag(field, andVarint: 0)
        let start = self.byteCount - 1
        contents(&self)
        let count = UInt64(self.byteCount - start - 1)
        if count >= 0x80 { self.makeRoom(count.varintBytes - 1, at: start) }
        var index = start
        count.forEachVarintByte {
            self.replace($0, at: index)
            index += 1
        }
    }
}
