import NIOCore
import SwiftProtobuf

/// A payload in the shape in which SwiftProtobuf reads and writes bytes, so that no array lies between.
struct MessageBytes: SwiftProtobufContiguousBytes {
    var buffer: ByteBuffer

    init(_ buffer: ByteBuffer) {
        self.buffer = buffer
    }

    init(repeating byte: UInt8, count: Int) {
        self.buffer = ByteBuffer(repeating: byte, count: count)
    }

    init(_ bytes: some Sequence<UInt8>) {
        self.buffer = ByteBuffer(bytes: bytes)
    }

    var count: Int { self.buffer.readableBytes }

    // SAFETY: both pass on the pointer of a buffer that lives as long as the call.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try self.buffer.withUnsafeReadableBytes(body)
    }

    // SAFETY: as above; the buffer is held here alone, and its readable part alone is lent.
    mutating func withUnsafeMutableBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try self.buffer.withUnsafeMutableReadableBytes(body)
    }
}

extension SwiftProtobuf.Message {
    /// Decodes a payload; fields that this version does not know are dropped.
    init(payload: ByteBuffer, field: StaticString) throws(WireError) {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        do {
            try self.init(serializedBytes: MessageBytes(payload), options: options)
        } catch {
            throw WireError(.malformed, field: field)
        }
    }

    /// The encoded message.
    func payload() -> ByteBuffer {
        do {
            let bytes: MessageBytes = try self.serializedBytes()
            return bytes.buffer
        } catch {
            preconditionFailure("a message of ours cannot be encoded")
        }
    }
}

/// A text for people, cut to what the protocol carries, at a boundary of characters.
func messageText(_ text: String, bytesMax: Int) -> String {
    guard text.utf8.count > bytesMax else { return text }
    var cut = text
    while cut.utf8.count > bytesMax { cut.removeLast() }
    return cut
}
