import RecordStore
import Synchronization

/// The amount that all holders have of one resource together, and its bound.
///
/// A look at it and a change are two steps: holders on several event loops may pass the bound
/// together, each by what it added last.
final class SharedAmount: Sendable {
    let bound: SharedBound
    private let sum = Atomic<Int>(0)
    private let highest = Atomic<Int>(0)

    init(capacity: Int) {
        self.bound = SharedBound(capacity: capacity)
    }

    var all: Int { self.sum.load(ordering: .relaxed) }
    /// The most that all had at any time.
    var most: Int { self.highest.load(ordering: .relaxed) }

    fileprivate func add(_ change: Int) {
        let now = self.sum.add(change, ordering: .relaxed).newValue
        if now > self.most { self.highest.max(now, ordering: .relaxed) }
    }
}

/// What one holder has of a resource.
final class HeldAmount: Sendable {
    let shared: SharedAmount
    private let sum = Atomic<Int>(0)

    init(of shared: SharedAmount) {
        self.shared = shared
    }

    var own: Int { self.sum.load(ordering: .relaxed) }

    /// Whether the holder may have so much more.
    func hasRoom(for added: Int) -> Bool {
        self.shared.bound.admits(added, own: self.own, all: self.shared.all)
    }

    /// Whether the holder has more than is left for the others: since others came, or because
    /// nobody knew how much it would be.
    var isBeyondBound: Bool { !self.hasRoom(for: 0) }

    /// Counts what the holder has more, or less, from now on; whether there is room was asked
    /// before.
    func add(_ change: Int) {
        guard change != 0 else { return }
        self.sum.add(change, ordering: .relaxed)
        self.shared.add(change)
    }
}
