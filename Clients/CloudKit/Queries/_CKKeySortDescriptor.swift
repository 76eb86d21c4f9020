public import Foundation

/// A sort descriptor with the name of a field.
///
/// Not to be used from outside: `NSSortDescriptor(key:ascending:)` makes it. Equality and hash are by value.
open class _CKKeySortDescriptor: NSSortDescriptor {
    let sortKey: String?

    init(sortKey: String?, ascending: Bool) {
        self.sortKey = sortKey
        super.init(keyPath: \NSObject.self, ascending: ascending) { _, _ in .orderedSame }
    }

    /// Compares what two records, or two dictionaries, have under the key; what has nothing there is the least.
    open override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let order = self.sortKey.map { key in
            FieldOrder.compare(
                PredicateEvaluation(of: object1).constant(key),
                PredicateEvaluation(of: object2).constant(key)
            )
        }
        return self.directed(order ?? .orderedSame)
    }

    /// The order of two objects by the values that they are sorted by.
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

    /// The descriptor for people to read.
    open override var description: String {
        "(\(self.sortKey ?? "nil"), \(self.ascending ? "ascending" : "descending"))"
    }
}
