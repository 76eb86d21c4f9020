import NIOCore

/// Writes fields into memory whose size is known, in the Protocol Buffers wire format.
///
/// For records, of which a response has hundreds: a `ByteBuffer` asks at each field whether it is
/// shared and has room. Everything else is written with `ByteBuffer+Fields`, which needs to know no
/// size.
struct FieldWriter {
    // SAFETY: written at indices from `count` to below `memory.count` only; every write looks for room first.
    private let memory: UnsafeMutableRawBufferPointer
    /// More than a message takes must be free: a number is written only where the longest one would fit.
    static let spareBytes = 10
    /// Bytes written.
    private(set) var count = 0

    // SAFETY: as above; the memory is the caller's for as long as the writer lives.
    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    /// The length of the message that follows, which is written field by field.
    @inline(__always)
    mutating func message(_ number: UInt8, bytes: Int) {
        self.tag(number, wireType: 2)
        self.varint(UInt64(bytes))
    }

    @inline(__always)
    mutating func field(_ number: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        self.tag(number, wireType: 0)
        self.varint(value)
    }

    mutating func field(_ number: UInt8, _ text: String) {
        guard !text.isEmpty else { return }
        self.message(number, bytes: text.utf8.count)
        // SAFETY: the bytes are copied before the call returns.
        let isCopied: Void? = text.utf8.withContiguousStorageIfAvailable {
            self.copy(UnsafeRawBufferPointer($0))
        }
        if isCopied == nil { for byte in text.utf8 { self.append(byte) } }
    }

    // SAFETY: the bytes are copied before the call returns.
    @inline(__always)
    mutating func field(_ number: UInt8, _ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        self.message(number, bytes)
    }

    /// A message that is encoded already.
    // SAFETY: the bytes are copied before the call returns.
    @inline(__always)
    mutating func message(_ number: UInt8, _ bytes: UnsafeRawBufferPointer) {
        self.message(number, bytes: bytes.count)
        self.copy(bytes)
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        precondition(self.count < self.memory.count)
        self.memory[self.count] = byte
        self.count += 1
    }

    @inline(__always)
    private mutating func tag(_ number: UInt8, wireType: UInt8) {
        precondition(number < 16)
        self.append(number << 3 | wireType)
    }

    @inline(__always)
    private mutating func varint(_ value: UInt64) {
        precondition(self.memory.count - self.count >= Self.spareBytes)
        var rest = value
        while rest >= 0x80 {
            self.memory[self.count] = UInt8(truncatingIfNeeded: rest) | 0x80
            self.count += 1
            rest >>= 7
        }
        self.memory[self.count] = UInt8(rest)
        self.count += 1
    }

    // SAFETY: what is lent is copied into as much room, which is looked for first.
    @inline(__always)
    private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        precondition(self.memory.count - self.count >= bytes.count)
        guard let from = bytes.baseAddress, let to = self.memory.baseAddress else { return }
        (to + self.count).copyMemory(from: from, byteCount: bytes.count)
        self.count += bytes.count
    }
}

/// Sizes of fields, as `FieldWriter` writes them; numbers are below 16.
enum FieldSize {
    static func varint(_ value: UInt64) -> Int {
        value < 0x80 ? 1 : (UInt64.bitWidth - value.leadingZeroBitCount + 6) / 7
    }

    static func field(_ value: UInt64) -> Int { value == 0 ? 0 : 1 + self.varint(value) }

    static func field(_ text: String) -> Int { self.field(bytes: text.utf8.count) }

    static func field(bytes count: Int) -> Int { count == 0 ? 0 : self.message(count) }

    /// Of a message of so many bytes.
    static func message(_ bytes: Int) -> Int { 1 + self.varint(UInt64(bytes)) + bytes }
}
