/// Appends and takes small values at the ends of a byte string.
struct CompactBytes {
    private(set) var bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    mutating func append(byte: UInt8) { self.bytes.append(byte) }

    mutating func append(_ integer: Int64) {
        var rest = UInt64(bitPattern: integer << 1 ^ integer >> 63)
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(rest))
    }

    mutating func append(_ text: String) {
        self.append(Int64(text.utf8.count))
        self.bytes += text.utf8
    }

    mutating func append(blob: [UInt8]) {
        self.append(Int64(blob.count))
        self.bytes += blob
    }

    mutating func append(_ integers: [Int64]) {
        self.append(Int64(integers.count))
        for integer in integers { self.append(integer) }
    }

    mutating func append(_ texts: [String]) {
        self.append(Int64(texts.count))
        for text in texts { self.append(text) }
    }

    /// `nil` at the end, as for all that follow; those also when the bytes are not what was appended.
    mutating func nextByte() -> UInt8? {
        guard self.position < self.bytes.count else { return nil }
        defer { self.position += 1 }
        return self.bytes[self.position]
    }

    mutating func nextInteger() -> Int64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64, let byte = self.nextByte() {
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
            shift += 7
        }
        return nil
    }

    mutating func nextText() -> String? {
        self.nextSlice().map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func nextBlob() -> [UInt8]? { self.nextSlice().map { Array($0) } }

    private mutating func nextSlice() -> ArraySlice<UInt8>? {
        guard let count = self.nextInteger(), count >= 0, count <= self.bytes.count - self.position else {
            return nil
        }
        defer { self.position += Int(count) }
        return self.bytes[self.position..<self.position + Int(count)]
    }

    mutating func nextIntegers() -> [Int64]? {
        guard let count = self.nextInteger(), count >= 0, count <= self.bytes.count else { return nil }
        var integers: [Int64] = []
        for _ in 0..<count {
            guard let integer = self.nextInteger() else { return nil }
            integers.append(integer)
        }
        return integers
    }

    mutating func nextTexts() -> [String]? {
        guard let count = self.nextInteger(), count >= 0, count <= self.bytes.count else { return nil }
        var texts: [String] = []
        for _ in 0..<count {
            guard let text = self.nextText() else { return nil }
            texts.append(text)
        }
        return texts
    }
}
