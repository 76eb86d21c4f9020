public import NIOCore
public import RecordModel

extension ByteBuffer: GrowingWireOutput {
    @inlinable package mutating func put(_ byte: UInt8) { self.writeInteger(byte) }

    @inlinable package mutating func put(_ first: UInt8, _ second: UInt8) {
        self.writeInteger(UInt16(first) << 8 | UInt16(second))
    }

    /// Writes up to eight bytes at once: each write checks whether the buffer is shared and has
    /// room.
    @inlinable package mutating func putVarint(_ value: UInt64) {
        guard value < 1 << 56 else { return value.forEachVarintByte { self.put($0) } }
        var word: UInt64 = 0
        var count = 0
        value.forEachVarintByte {
            word |= UInt64($0) << UInt64(8 * count)
            count += 1
        }
        self.setInteger(word, at: self.writerIndex, endianness: .little)
        self.moveWriterIndex(forwardBy: count)
    }

    @inlinable package mutating func put(_ bytes: Span<UInt8>) { self.writeBytes(bytes.bytes) }

    @inlinable package mutating func put(_ text: String) { self.writeString(text) }

    @inlinable package var byteCount: Int { self.writerIndex }

    @inlinable package mutating func replace(_ byte: UInt8, at index: Int) {
        self.setInteger(byte, at: index)
    }

    @inlinable package mutating func makeRoom(_ count: Int, at index: Int) {
        let moved = self.writerIndex - index
        self.writeRepeatingByte(0, count: count)
        do {
            try self.copyBytes(at: index, to: index + count, length: moved)
        } catch {
            preconditionFailure("bytes that were just written cannot be moved")
        }
    }
}

extension ByteBuffer {
    /// An empty buffer with room for a small message, which would otherwise grow from one byte on.
    static var forMessage: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(128)
        return buffer
    }

    mutating func writeField(_ field: some WireField, _ requestID: RequestID) {
        self.writeHead(field, bytes: 2 * MemoryLayout<UInt64>.size)
        self.writeMultipleIntegers(requestID.high, requestID.low)
    }
}
