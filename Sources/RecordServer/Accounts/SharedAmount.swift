import Admission
import Synchronization

/// The amount that all holders use of one resource, and its bound.
///
/// Check and change are two steps: holders on several event loops may together exceed the bound,
/// each by its last addition.
final class SharedAmount: Sendable {
    let bound: SharedBound
    private let sum = Atomic<Int>(0)
    private let highest = Atomic<Int>(0)

    init(capacity: Int) {
        self.bound = SharedBound(capacity: capacity)
    }

    var all: Int { self.sum.load(ordering: .relaxed) }
    /// The highest total so far.
    var most: Int { self.highest.load(ordering: .relaxed) }

    fileprivate func add(_ change: Int) {
        let now = self.sum.add(change, ordering: .relaxed).newValue
        if now > self.most { self.highest.max(now, ordering: .relaxed) }
    }
}

/// The amount that one holder uses of a resource.
final class HeldAmount: Sendable {
    let shared: SharedAmount
    private let sum = Atomic<Int>(0)

    init(of shared: SharedAmount) {
        self.shared = shared
    }

    var own: Int { self.sum.load(ordering: .relaxed) }

    /// Whether the holder may use `added` more.
    func hasRoom(for added: Int) -> Bool {
        self.shared.bound.admits(added, own: self.own, all: self.shared.all)
    }

    /// Whether the holder uses more than its share: other holders came, or the amount was not known
    /// in advance.
    var isBeyondBound: Bool { !self.hasRoom(for: 0) }

    /// Adds to the holder's amount, or subtracts; callers check `hasRoom` first.
    func add(_ change: Int) {
        guard change != 0 else { return }
        self.sum.add(change, ordering: .relaxed)
        self.shared.add(change)
    }
}
