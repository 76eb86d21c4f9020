/// A field of a message.
///
/// `Scripts/generate` makes an enumeration for each message of `tidemark.proto`, so that no number
/// is typed by hand, and a reader that forgets a field does not compile. A repeated number has two
/// cases: packed, which is how it is written, and `…Element` for a single one.
@usableFromInline
package protocol WireField: CaseIterable, Hashable, Sendable {
    /// Returns `nil` if the message has no such field, or not with this wire type.
    init?(tag: UInt32)

    /// The encoded number and wire type: 8 × number + wire type.
    var tag: UInt32 { get }
}

extension WireField {
    /// 1 to 2²⁹−1.
    @inlinable package var number: UInt32 { self.tag >> 3 }
}
