/// Writes into an array.
@usableFromInline
package struct WireWriter: GrowingWireOutput {
    @usableFromInline package var bytes: [UInt8]

    /// Appends to bytes.
    @inlinable
    package init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    @inlinable package mutating func reserveCapacity(_ count: Int) { self.bytes.reserveCapacity(count) }

    @inlinable package mutating func put(_ byte: UInt8) { self.bytes.append(byte) }

    @inlinable package mutating func put(_ first: UInt8, _ second: UInt8) {
        self.bytes.append(first)
        self.bytes.append(second)
    }

    @inlinable package mutating func put(_ bytes: Span<UInt8>) {
        // SAFETY: the array copies before the call returns. It copies all at once from a pointer only.
        bytes.withUnsafeBufferPointer { self.bytes.append(contentsOf: $0) }
    }

    @inlinable package var byteCount: Int { self.bytes.count }

    @inlinable package mutating func replace(_ byte: UInt8, at index: Int) { self.bytes[index] = byte }

    @inlinable package mutating func makeRoom(_ count: Int, at index: Int) {
        self.bytes.insert(contentsOf: repeatElement(0, count: count), at: index)
    }
}
