/// The encoded size of a field, as `WireOutput` writes it.
@usableFromInline
package enum WireSize {
    @inlinable
    @inline(__always)
    package static func field(_ field: some WireField, _ value: UInt64) -> Int {
        value == 0 ? 0 : self.tag(field) + value.varintBytes
    }

    /// The size of text or bytes; 0 if empty, since the field is omitted.
    @inlinable
    @inline(__always)
    package static func field(_ field: some WireField, bytes count: Int) -> Int {
        count == 0 ? 0 : self.message(field, bytes: count)
    }

    /// The size of a message that is written even if it is empty.
    @inlinable
    @inline(__always)
    package static func message(_ field: some WireField, bytes count: Int) -> Int {
        self.tag(field) + UInt64(count).varintBytes + count
    }

    @inlinable
    @inline(__always)
    static func tag(_ field: some WireField) -> Int { UInt64(field.tag).varintBytes }
}
