import RecordModel

/// Appends and takes small values at the ends of a byte string.
///
/// Integers are variable-length and zigzag, texts and blobs stand behind their length.
struct CompactBytes {
    private var writer: WireWriter
    private var position = 0

    init(_ bytes: [UInt8] = []) {
        self.writer = WireWriter(bytes)
    }

    /// Creates an empty value with room for `count` bytes.
    init(reserving count: Int) {
        self.writer = WireWriter()
        self.writer.reserveCapacity(count)
    }

    var bytes: [UInt8] { self.writer.bytes }

    mutating func append(byte: UInt8) { self.writer.put(byte) }

    mutating func append(_ integer: Int64) { self.writer.putVarint(integer.zigzag) }

    mutating func append(_ text: String) {
        self.append(Int64(text.utf8.count))
        self.writer.put(text)
    }

    mutating func append(blob: [UInt8]) {
        self.append(Int64(blob.count))
        self.writer.put(blob.span)
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
        self.next { (reader) throws(WireFault) in try reader.byte() }
    }

    mutating func nextInteger() -> Int64? {
        self.next { (reader) throws(WireFault) in Int64(zigzag: try reader.varint()) }
    }

    mutating func nextText() -> String? {
        self.nextRange().map { self.writer.bytes.span.repairedText($0) }
    }

    mutating func nextBlob() -> [UInt8]? {
        self.nextRange().map { self.writer.bytes.span.copied($0) }
    }

    private mutating func nextRange() -> Range<Int>? {
        guard let count = self.nextInteger(), count >= 0 else { return nil }
        return self.next { (reader) throws(WireFault) in try reader.skip(UInt64(count)) }
    }

    private mutating func next<Value>(
        _ read: (inout WireReader) throws(WireFault) -> Value
    ) -> Value? {
        guard let (value, end) = self.value(read) else { return nil }
        self.position = end
        return value
    }

    /// A value, and where it ends.
    private func value<Value>(
        _ read: (inout WireReader) throws(WireFault) -> Value
    ) -> (value: Value, end: Int)? {
        let bytes = self.writer.bytes.span
        var reader = WireReader(bytes, in: self.position..<bytes.count)
        return (try? read(&reader)).map { ($0, reader.position) }
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
