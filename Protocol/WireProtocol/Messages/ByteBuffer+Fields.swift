import NIOCore
import RecordModel

// Writes fields in the Protocol Buffers wire format. A field that has its type's zero is left out,
// as the language demands of fields without presence.
extension ByteBuffer {
    /// Writes a tag: a number with its wire type; from 16 on it has two bytes.
    private mutating func writeTag(_ number: UInt8, wireType: UInt8) {
        if number < 16 {
            self.writeInteger(number << 3 | wireType)
        } else {
            self.writeMultipleIntegers(number << 3 | wireType | 0x80, number >> 4)
        }
    }

    mutating func writeVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.writeInteger(UInt8(rest))
    }

    mutating func writeField(_ number: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        self.writeTag(number, wireType: 0)
        self.writeVarint(value)
    }

    mutating func writeField(_ number: UInt8, _ value: UInt32) {
        self.writeField(number, UInt64(value))
    }

    mutating func writeField(_ number: UInt8, _ value: Int64) {
        self.writeField(number, UInt64(bitPattern: value))
    }

    mutating func writeField(_ number: UInt8, _ isSet: Bool) {
        self.writeField(number, isSet ? 1 : 0 as UInt64)
    }

    mutating func writeField(_ number: UInt8, _ value: Double) {
        guard value.bitPattern != 0 else { return }
        self.writeTag(number, wireType: 1)
        self.writeInteger(value.bitPattern, endianness: .little)
    }

    mutating func writeField(_ number: UInt8, _ text: String) {
        guard !text.isEmpty else { return }
        self.writeElement(number, text)
    }

    mutating func writeField(_ number: UInt8, _ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        self.writeTag(number, wireType: 2)
        self.writeVarint(UInt64(bytes.count))
        self.writeBytes(bytes)
    }

    mutating func writeField(_ number: UInt8, _ requestID: RequestID) {
        self.writeTag(number, wireType: 2)
        self.writeMultipleIntegers(UInt8(16), requestID.high, requestID.low)
    }

    /// Writes text that is there even when it is empty.
    mutating func writeElement(_ number: UInt8, _ text: String) {
        self.writeTag(number, wireType: 2)
        self.writeVarint(UInt64(text.utf8.count))
        self.writeString(text)
    }

    /// Writes a message that is there even when it is empty; its length is known when its contents
    /// are written.
    mutating func writeMessage(_ number: UInt8, _ contents: (inout ByteBuffer) -> Void) {
        self.writeTag(number, wireType: 2)
        self.writeLengthPrefixed(contents)
    }

    /// Leaves a byte for the length, and moves the contents by what more it takes.
    private mutating func writeLengthPrefixed(_ contents: (inout ByteBuffer) -> Void) {
        let start = self.writerIndex
        self.writeInteger(UInt8(0))
        contents(&self)
        let count = self.writerIndex - start - 1
        guard count >= 0x80 else {
            self.setInteger(UInt8(count), at: start)
            return
        }
        let moreLengthBytes = (Int.bitWidth - count.leadingZeroBitCount + 6) / 7 - 1
        self.writeRepeatingByte(0, count: moreLengthBytes)
        do {
            try self.copyBytes(at: start + 1, to: start + 1 + moreLengthBytes, length: count)
        } catch {
            preconditionFailure("bytes that were just written cannot be moved")
        }
        let end = self.writerIndex
        self.moveWriterIndex(to: start)
        self.writeVarint(UInt64(count))
        self.moveWriterIndex(to: end)
    }
}
