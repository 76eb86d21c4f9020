/// Reads the Protocol Buffers wire format, and checks every bound.
///
/// One reader walks a whole body: it is confined to a message while it reads it (`enter`, `leave`).
/// So the array is retained once, and not once per field.
struct WireReader {
    let bytes: [UInt8]
    private(set) var position: Int
    private var end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.position = 0
        self.end = bytes.count
    }

    var isAtEnd: Bool { self.position == self.end }

    /// Reads a variable-length integer, which must be minimal.
    mutating func varint() throws(BodyError) -> UInt64 {
        guard self.position < self.end else { throw .malformed }
        let first = self.bytes[self.position]
        self.position += 1
        return first < 0x80 ? UInt64(first) : try self.varint(after: first)
    }

    private mutating func varint(after first: UInt8) throws(BodyError) -> UInt64 {
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while self.position < self.end, shift < 64 {
            let byte = self.bytes[self.position]
            self.position += 1
            if shift == 63, byte > 1 { throw .malformed }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                if byte == 0 { throw .malformed }
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
        var index = range.upperBound
        while index > range.lowerBound {
            index -= 1
            bits = bits << 8 | UInt64(self.bytes[index])
        }
        return Double(bitPattern: bits)
    }

    /// Skips a length and that many bytes.
    ///
    /// Returns the range of the bytes.
    mutating func delimited() throws(BodyError) -> Range<Int> {
        try self.skip(self.varint())
    }

    /// Skips a value.
    ///
    /// Returns its range, without the length of a length-delimited one.
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

    /// Reads a length and confines the reader to that many bytes, until `leave` gets the returned
    /// value.
    mutating func enter() throws(BodyError) -> Int {
        let range = try self.delimited()
        return self.enter(range)
    }

    /// Confines the reader to a range that it just skipped, until `leave`.
    mutating func enter(_ range: Range<Int>) -> Int {
        let outer = self.end
        self.position = range.lowerBound
        self.end = range.upperBound
        return outer
    }

    /// Ends what `enter` began.
    ///
    /// No bytes may be left to read.
    mutating func leave(to outer: Int) throws(BodyError) {
        guard self.isAtEnd else { throw .malformed }
        self.end = outer
    }

    /// Moves to a range of the bytes, from any position.
    mutating func start(in range: Range<Int>) {
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    private mutating func skip(_ count: UInt64) throws(BodyError) -> Range<Int> {
        guard count <= UInt64(self.end - self.position) else { throw .malformed }
        let range = self.position..<self.position + Int(count)
        self.position = range.upperBound
        return range
    }
}
