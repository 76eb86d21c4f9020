public import Foundation
import RecordModel

/// A sort descriptor with the name of a field.
///
/// Not to be used from outside: `NSSortDescriptor(key:ascending:)` makes it. Equality and hash are by value.
open class _CKKeySortDescriptor: NSSortDescriptor, NSSecureCoding {
    let sortKey: String?

    init(sortKey: String?, ascending: Bool) {
        self.sortKey = sortKey
        super.init(keyPath: \NSObject.self, ascending: ascending) { _, _ in .orderedSame }
    }

    /// Reads an archived descriptor; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let isAscending = body.integer("ascending") else { return nil }
        self.sortKey = body.text("key")
        super.init(keyPath: \NSObject.self, ascending: isAscending != 0) { _, _ in .orderedSame }
    }

    /// Writes the descriptor into an archive, in one encoding for one descriptor.
    open func encode(with coder: NSCoder) { coder.encodeBody(self.archiveParts) }

    /// What an archive holds of the descriptor.
    var archiveParts: [Field] {
        let isAscending = Field("ascending", .int64(self.ascending ? 1 : 0))
        return [isAscending] + (self.sortKey.map { [Field("key", .string($0))] } ?? [])
    }

    /// Whether descriptors may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

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
