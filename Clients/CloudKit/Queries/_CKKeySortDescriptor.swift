public import Foundation
import RecordModel

/// A sort descriptor with the name of a field.
///
/// Not to be used from outside: `NSSortDescriptor(key:ascending:)` makes it. Equality and hash are
/// by value.
open class _CKKeySortDescriptor: NSSortDescriptor, NSSecureCoding {
    let sortKey: String?

    init(sortKey: String?, ascending: Bool) {
        self.sortKey = sortKey
        super.init(keyPath: \NSObject.self, ascending: ascending) { _, _ in .orderedSame }
    }

    /// Reads an archived descriptor; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let isAscending = body.integer("ascending") else { return nil }
        self.sortKey = body.text("key")
        super.init(keyPath: \NSObject.self, ascending: isAscending != 0) { _, _ in .orderedSame }
    }

    /// Writes the descriptor into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) { coder.encodeBody(self.archiveParts) }

    /// The archived parts of the descriptor.
    var archiveParts: [Field] {
        let isAscending = Field("ascending", .int64(self.ascending ? 1 : 0))
        return [isAscending] + (self.sortKey.map { [Field("key", .string($0))] } ?? [])
    }

    /// Always `true`: descriptors can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Compares the values under the key in two records or dictionaries; an absent value is the
    /// least.
    open override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let order = self.sortKey.map { key in
            FieldOrder.compare(
                PredicateEvaluation(of: object1).constant(key),
                PredicateEvaluation(of: object2).constant(key)
            )
        }
        return self.directed(order ?? .orderedSame)
    }

    /// Returns the order of two objects in the descriptor's direction.
    func directed(_ order: ComparisonResult) -> ComparisonResult {
        if self.ascending { return order }
        switch order {
        case .orderedAscending: return .orderedDescending
        case .orderedSame: return .orderedSame
        case .orderedDescending: return .orderedAscending
        }
    }

    /// A descriptor with the same key and the other direction.
    open override var reversedSortDescriptor: Any {
        _CKKeySortDescriptor(sortKey: self.sortKey, ascending: !self.ascending)
    }

    /// Returns whether an object is a descriptor with the same key and direction.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? _CKKeySortDescriptor, type(of: self) == type(of: other) else {
            return false
        }
        return self.sortKey == other.sortKey && self.ascending == other.ascending
    }

    /// The hash of key and direction.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(self.sortKey)
        hasher.combine(self.ascending)
        return hasher.finalize()
    }

    /// A description of the descriptor for people.
    open override var description: String {
        "(\(self.sortKey ?? "nil"), \(self.ascending ? "ascending" : "descending"))"
    }
}
