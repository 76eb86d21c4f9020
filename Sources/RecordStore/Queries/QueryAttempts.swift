import RecordModel
import StorageContract
import Synchronization

/// Remembers which queries take too long for the thread of their caller.
///
/// The cost of a query is unknown before it is read, and an attempt that is given up costs time.
/// Queries of one shape in one database mostly cost about the same: after a failed attempt, the
/// next ones of the shape are not attempted.
final class QueryAttempts: Sendable {
    /// By the hash of a shape: how many queries are still not to be attempted.
    ///
    /// Shapes that share a slot only cost each other an attempt, or a change of the thread.
    private let slots = Mutex([UInt8](repeating: 0, count: 1_024))

    /// The number of queries after a lost attempt that are not attempted: the lost time is a small
    /// part of theirs.
    private static let passedOver: UInt8 = 15

    /// Whether to try a query on the caller's thread.
    func isWorthwhile(_ shape: Int) -> Bool {
        self.slots.withLock { slots in
            let slot = Self.slot(of: shape)
            guard slots[slot] > 0 else { return true }
            slots[slot] -= 1
            return false
        }
    }

    /// An attempt was given up.
    func wasLost(_ shape: Int) {
        self.slots.withLock { $0[Self.slot(of: shape)] = Self.passedOver }
    }

    private static func slot(of shape: Int) -> Int { Int(UInt(bitPattern: shape) % 1_024) }
}

extension QueryRead {
    /// A hash of the query without its values: queries that differ in nothing else share it.
    func shape(in database: DatabaseID) -> Int {
        var hasher = Hasher()
        hasher.combine(database)
        hasher.combine(self.query.recordType)
        hasher.combine(self.isCount)
        hasher.combine(self.resume == nil)
        self.query.predicate.addShape(to: &hasher)
        for key in self.query.sort {
            hasher.combine(key.field)
            hasher.combine(key.isAscending)
        }
        return hasher.finalize()
    }
}

extension Predicate {
    fileprivate func addShape(to hasher: inout Hasher) {
        switch self {
        case .all: hasher.combine(0)
        case .nothing: hasher.combine(1)
        case .comparison(let comparison):
            hasher.combine(comparison.comparator)
            hasher.combine(comparison.field)
        case .and(let parts):
            hasher.combine(2)
            for part in parts { part.addShape(to: &hasher) }
        case .or(let parts):
            hasher.combine(3)
            for part in parts { part.addShape(to: &hasher) }
        }
    }
}
