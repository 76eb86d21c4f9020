import NIOCore
import RecordModel

/// Reads a message of a frame's payload, field by field.
///
/// No tree of messages is built first: that would cost more than the rest of a small request. A
/// reader borrows the payload's memory.
struct MessageReader: ~Escapable {
    private var wire: WireReader
    /// The name in errors.
    private let name: StaticString
    private let start: Int

    /// Reads a payload; `name` is its name in errors.
    @_lifetime(borrow payload)
    init(_ payload: borrowing ByteBuffer, _ name: StaticString) {
        self.init(WireReader(payload.readableBytesUInt8Span), name)
    }

    @_lifetime(copy wire)
    private init(_ wire: WireReader, _ name: StaticString) {
        self.wire = wire
        self.name = name
        self.start = wire.position
    }

    /// The message's range in the payload.
    var range: Range<Int> { self.start..<self.wire.end }

    private var malformed: WireError { WireError(.malformed, field: self.name) }

    /// Reads the tag of the next known field with its expected wire type.
    ///
    /// Others are skipped. Returns `nil` at the end.
    @inline(__always)
    mutating func next<Field: WireField>(_: Field.Type) throws(WireError) -> Field? {
        while let tag = try self.tag() {
            if let field = Field(tag: tag) { return field }
            try self.skip(tag)
        }
        return nil
    }

    /// Reads the next tag, or returns `nil` at the end.
    @inline(__always)
    mutating func tag() throws(WireError) -> UInt32? {
        do {
            return try self.wire.tag()
        } catch {
            throw self.malformed
        }
    }

    @inline(__always)
    mutating func varint() throws(WireError) -> UInt64 {
        do {
            return try self.wire.varint()
        } catch {
            throw self.malformed
        }
    }

    mutating func int64() throws(WireError) -> Int64 { Int64(bitPattern: try self.varint()) }

    mutating func double() throws(WireError) -> Double {
        do {
            return Double(bitPattern: try self.wire.fixed64())
        } catch {
            throw self.malformed
        }
    }

    mutating func bool() throws(WireError) -> Bool { try self.varint() != 0 }

    /// As Protocol Buffers requires, excess bits are dropped.
    mutating func uint32() throws(WireError) -> UInt32 {
        UInt32(truncatingIfNeeded: try self.varint())
    }

    /// Reads packed numbers.
    mutating func packed() throws(WireError) -> [UInt64] {
        var message = try self.message()
        var numbers: [UInt64] = []
        while !message.wire.isAtEnd { numbers.append(try message.varint()) }
        return numbers
    }

    mutating func packedUInt32s() throws(WireError) -> [UInt32] {
        try self.packed().map { UInt32(truncatingIfNeeded: $0) }
    }

    /// A reader of the length-delimited message that follows.
    @_lifetime(copy self)
    mutating func message() throws(WireError) -> MessageReader {
        MessageReader(self.wire.part(try self.delimited()), self.name)
    }

    mutating func text() throws(WireError) -> String {
        guard let text = self.wire.bytes.text(try self.delimited()) else { throw self.malformed }
        return text
    }

    /// Reads a text that probably equals the last one of its kind; then that one is returned, and
    /// none is allocated.
    mutating func text(orLast last: inout String) throws(WireError) -> String {
        let range = try self.delimited()
        if self.wire.bytes.isEqual(range, to: &last) { return last }
        guard let text = self.wire.bytes.text(range) else { throw self.malformed }
        last = text
        return text
    }

    mutating func bytes() throws(WireError) -> [UInt8] { self.wire.bytes.copied(try self.delimited()) }

    /// Skips the value after a tag, and refuses groups.
    mutating func skip(_ tag: UInt32) throws(WireError) {
        do {
            try self.wire.skipValue(ofTag: tag)
        } catch {
            throw self.malformed
        }
    }

    /// Skips the value after a field's tag.
    mutating func skip(_ field: some WireField) throws(WireError) { try self.skip(field.tag) }

    /// Skips the rest.
    consuming func skipAll() throws(WireError) {
        while let tag = try self.tag() { try self.skip(tag) }
    }

    @inline(__always)
    private mutating func delimited() throws(WireError) -> Range<Int> {
        do {
            return try self.wire.delimited()
        } catch {
            throw self.malformed
        }
    }
}
