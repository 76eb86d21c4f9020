import RecordModel

/// Writes into memory of a known size: for records, since a response has hundreds of them.
///
/// At each byte, a `ByteBuffer` checks whether it is shared and has room, and `OutputRawSpan`
/// whether it has room: that made writing a record 1.7 times as slow. Here a variable-length
/// integer checks once.
struct SizedOutput: WireOutput {
    // SAFETY: written at indices from `count` to below `memory.count` only; every write checks for
    // room first.
    private let memory: UnsafeMutableRawBufferPointer
    /// Number of bytes written.
    private(set) var count = 0

    // SAFETY: as above; the memory is the caller's for as long as the output lives.
    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        precondition(self.count < self.memory.count)
        self.memory[self.count] = byte
        self.count &+= 1
    }

    @inline(__always)
    mutating func put(_ first: UInt8, _ second: UInt8) {
        precondition(self.memory.count - self.count >= 2)
        self.memory[self.count] = first
        self.memory[self.count &+ 1] = second
        self.count &+= 2
    }

    @inline(__always)
    mutating func putVarint(_ value: UInt64) {
        precondition(self.memory.count - self.count >= value.varintBytes)
        value.forEachVarintByte {
            self.memory[self.count] = $0
            self.count &+= 1
        }
    }

    @inline(__always)
    mutating func put(_ bytes: Span<UInt8>) {
        precondition(self.memory.count - self.count >= bytes.count)
        // SAFETY: the check guarantees enough free bytes.
        bytes.withUnsafeBytes {
            guard let from = $0.baseAddress, let to = self.memory.baseAddress else { return }
            (to + self.count).copyMemory(from: from, byteCount: $0.count)
        }
        self.count &+= bytes.count
    }

    // SAFETY: lent bytes are copied before the call returns.
    @inline(__always)
    mutating func writeLent(_ field: some WireField, _ lent: UnsafeRawBufferPointer) {
        guard !lent.isEmpty else { return }
        self.writeElement(field, Span(_unsafeBytes: lent))
    }
}
