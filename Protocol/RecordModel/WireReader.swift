/// Reads the Protocol Buffers wire format from a range of bytes, checking every bound.
struct WireReader {
    private let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int

    init(_ bytes: [UInt8]) {
        self.init(bytes, in: bytes.startIndex..<bytes.endIndex)
    }

    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    var isAtEnd: Bool { self.position == self.end }

    /// A minimal variable-length integer.
    mutating func varint() throws(BodyError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.position < self.end, shift < 64 {
            let byte = self.bytes[self.position]
            self.position += 1
            if shift == 63, byte > 1 { throw .malformed }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                if byte == 0, shift > 0 { throw .malformed }
                return value
            }
            shift += 7
        }
        throw .malformed
    }

    mutating func zigzag() throws(BodyError) -> Int64 {
        let value = try self.varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func double() throws(BodyError) -> Double {
        let range = try self.skip(8)
        var bits: UInt64 = 0
        for byte in self.bytes[range].reversed() { bits = bits << 8 | UInt64(byte) }
        return Double(bitPattern: bits)
    }

    /// A length and so many bytes: where the bytes lie. Moves behind them.
    mutating func delimited() throws(BodyError) -> Range<Int> {
        try self.skip(self.varint())
    }

    /// Moves behind a value; returns where it lies, a length-delimited one without its length.
    mutating func value(ofWireType wireType: UInt8) throws(BodyError) -> Range<Int> {
        let start = self.position
        switch wireType {
        case 0:
            _ = try self.varint()
            return start..<self.position
        case 1: return try self.skip(8)
        case 2: return try self.delimited()
        default: throw .malformed
        }
    }

    var remaining: Range<Int> { self.position..<self.end }

    func slice(_ range: Range<Int>) -> ArraySlice<UInt8> { self.bytes[range] }

    func reader(in range: Range<Int>) -> WireReader { WireReader(self.bytes, in: range) }

    private mutating func skip(_ count: UInt64) throws(BodyError) -> Range<Int> {
        guard count <= UInt64(self.end - self.position) else { throw .malformed }
        let range = self.position..<self.position + Int(count)
        self.position = range.upperBound
        return range
    }
}
