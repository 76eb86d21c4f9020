import NIOCore

/// Reads the Protocol Buffers wire format, checking every bound.
///
/// For the messages of requests and responses: generated code builds a tree of messages first, which
/// costs more than all the rest of a small request. A reader is lent a payload's memory and must
/// not leave the call that lends it.
struct MessageReader {
    // SAFETY: read at indices from `position` to below `count` only, and `position` passes `count` nowhere.
    private let memory: UnsafeRawBufferPointer
    /// Where the message begins in the payload.
    private let start: Int
    private var position = 0
    /// The message that an error names.
    private let field: StaticString

    // SAFETY: as above.
    fileprivate init(_ memory: UnsafeRawBufferPointer, at start: Int = 0, field: StaticString) {
        self.memory = memory
        self.start = start
        self.field = field
    }

    /// Bytes of the whole message.
    var count: Int { self.memory.count }

    /// Where the message lies in the payload.
    var place: Range<Int> { self.start..<self.start + self.memory.count }

    var malformed: WireError { WireError(.malformed, field: self.field) }

    /// The next field's number and wire type as they are encoded; `nil` at the end of the message.
    mutating func tag() throws(WireError) -> UInt64? {
        guard self.position < self.memory.count else { return nil }
        let tag = try self.varint()
        guard tag >> 3 > 0, tag <= UInt64(UInt32.max) else { throw self.malformed }
        return tag
    }

    mutating func varint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.position < self.memory.count, shift < 70 {
            let byte = self.memory[self.position]
            self.position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw self.malformed
    }

    mutating func int64() throws(WireError) -> Int64 {
        Int64(bitPattern: try self.varint())
    }

    mutating func double() throws(WireError) -> Double {
        let range = try self.advance(8)
        return Double(
            bitPattern: self.memory[range].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        )
    }

    /// As Protocol Buffers has it: what does not fit is cut off.
    mutating func uint32() throws(WireError) -> UInt32 {
        UInt32(truncatingIfNeeded: try self.varint())
    }

    /// A length-delimited message.
    // SAFETY: a part of what is lent, and lent for no longer.
    mutating func message() throws(WireError) -> MessageReader {
        let range = try self.delimited()
        let memory = UnsafeRawBufferPointer(rebasing: self.memory[range])
        return MessageReader(memory, at: self.start + range.lowerBound, field: self.field)
    }

    mutating func text() throws(WireError) -> String {
        let bytes = try self.lent()
        if bytes.isASCII { return String(decoding: bytes, as: UTF8.self) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw self.malformed }
        return text
    }

    /// A text that is likely to be the last one of its place: then that is returned, and no other is made.
    mutating func text(orLast last: inout String) throws(WireError) -> String {
        let start = self.position
        let range = try self.delimited()
        if last.utf8.count == range.count, self.hasBytes(of: &last, at: range) { return last }
        self.position = start
        last = try self.text()
        return last
    }

    private func hasBytes(of text: inout String, at range: Range<Int>) -> Bool {
        // SAFETY: read below its count only, as long as it is lent.
        text.withUTF8 { utf8 in
            let text = UnsafeRawBufferPointer(utf8)
            var offset = 0
            while text.count - offset >= 8 {
                let word = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let place = range.lowerBound + offset
                guard self.memory.loadUnaligned(fromByteOffset: place, as: UInt64.self) == word else {
                    return false
                }
                offset += 8
            }
            while offset < text.count {
                guard self.memory[range.lowerBound + offset] == text[offset] else { return false }
                offset += 1
            }
            return true
        }
    }

    mutating func bytes() throws(WireError) -> [UInt8] { [UInt8](try self.lent()) }

    /// The bytes where they are.
    // SAFETY: a part of what is lent, and lent for no longer.
    mutating func lent() throws(WireError) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self.memory[try self.delimited()])
    }

    /// Passes over the contents of a field that this version does not know, or not with this wire type.
    ///
    /// Groups, which the third version of the language does not have, are refused.
    mutating func skip(_ tag: UInt64) throws(WireError) {
        switch tag & 7 {
        case 0: _ = try self.varint()
        case 1: _ = try self.advance(8)
        case 2: _ = try self.delimited()
        case 5: _ = try self.advance(4)
        default: throw self.malformed
        }
    }

    /// Passes over all that is left of a message without fields.
    consuming func skipAll() throws(WireError) {
        while let tag = try self.tag() { try self.skip(tag) }
    }

    private mutating func delimited() throws(WireError) -> Range<Int> {
        try self.advance(self.varint())
    }

    private mutating func advance(_ count: UInt64) throws(WireError) -> Range<Int> {
        guard count <= UInt64(self.memory.count - self.position) else { throw self.malformed }
        let start = self.position
        self.position += Int(count)
        return start..<self.position
    }
}

// SAFETY: reads below `count` only, of memory that is lent for the call.
extension UnsafeRawBufferPointer {
    /// Text of ASCII alone needs no other check.
    fileprivate var isASCII: Bool {
        var offset = 0
        while self.count - offset >= 8 {
            let word = self.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard word & 0x8080_8080_8080_8080 == 0 else { return false }
            offset += 8
        }
        while offset < self.count {
            guard self[offset] < 0x80 else { return false }
            offset += 1
        }
        return true
    }
}

extension ByteBuffer {
    /// Lends the payload to a reader.
    // SAFETY: the reader is gone when the call returns; it is copied nowhere but into the readers
    // of its parts.
    func reading<Value>(
        _ field: StaticString,
        _ body: (inout MessageReader) throws(WireError) -> Value
    ) throws(WireError) -> Value {
        try self.withUnsafeReadableBytes { memory throws(WireError) in
            var reader = MessageReader(memory, field: field)
            return try body(&reader)
        }
    }
}
