/// How a record refers to another.
///
/// One bit each, because a record may be child and dependant at once.
package struct ReferenceKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    /// The target is the parent.
    package static let parent = ReferenceKinds(rawValue: 1 << 0)
    package static let deleteSelf = ReferenceKinds(rawValue: 1 << 1)
    package static let validate = ReferenceKinds(rawValue: 1 << 2)
    /// Those that keep the target from being deleted while the referrer exists.
    package static let keeping: ReferenceKinds = [.parent, .validate]

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

package struct Referrer: Hashable, Sendable {
    package var name: String
    package var kinds: ReferenceKinds

    package init(name: String, kinds: ReferenceKinds) {
        self.name = name
        self.kinds = kinds
    }
}
