/// Index values from `lower` up to but not including `upper`.
///
/// Values are compared byte by byte. So the next value after another one is the same with a zero
/// byte appended.
package struct EntryRange: Hashable, Sendable {
    package var lower: [UInt8]
    /// `nil` if there is no upper bound.
    package var upper: [UInt8]?

    package init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    package static let all = EntryRange(lower: [], upper: nil)

    package static func point(_ value: [UInt8]) -> EntryRange {
        EntryRange(lower: value, upper: value + [0])
    }
}
