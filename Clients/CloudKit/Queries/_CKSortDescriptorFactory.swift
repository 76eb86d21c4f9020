public import Foundation

/// Gives `NSSortDescriptor` the initialiser with a key, which Foundation on Linux declares
/// unavailable.
///
/// Not to be used from outside. `_CKPredicateFactory` explains how.
public protocol _CKSortDescriptorFactory {}

extension NSSortDescriptor: _CKSortDescriptorFactory {}

extension _CKSortDescriptorFactory {
    /// Makes a descriptor that sorts by the values under a key.
    ///
    /// - Parameters:
    ///   - key: The name of a field. If `nil`, local objects are not sorted, and a query fails with
    ///     `invalidArguments`.
    ///   - ascending: Whether the least value comes first.
    public init(key: String?, ascending: Bool) {
        guard let made = _CKKeySortDescriptor(sortKey: key, ascending: ascending) as NSSortDescriptor as? Self
        else {
            preconditionFailure("\(Self.self) has no initialiser with a key: use NSSortDescriptor's")
        }
        self = made
    }
}

extension NSSortDescriptor {
    /// The key; `nil` for a descriptor with a Swift key path.
    public var key: String? { (self as? _CKKeySortDescriptor)?.sortKey }
}
