import Synchronization

/// Limits frames that cost a peer nothing, over all connections of an account: 4,000 at once, and
/// 4,000 a second.
///
/// A leaky bucket stored as one time, at which it is full again (the generic cell rate algorithm of
/// ATM).
package final class ControlFramePace: Sendable {
    /// Limit of all connections of an account.
    package static let framesPerSecondMax = 4 * ControlFrameBudget.framesPerSecondMax
    private static let frameNanoseconds = 1_000_000_000 / Int64(framesPerSecondMax)
    private static let burstNanoseconds: Int64 = 1_000_000_000

    private let fullAgain = Atomic<Int64>(0)

    package init() {}

    /// A control frame arrived.
    ///
    /// - Returns: `false` if it exceeds the limit.
    package func received(atNanoseconds now: Int64) -> Bool {
        var before = self.fullAgain.load(ordering: .relaxed)
        while true {
            let after = max(before, now) + Self.frameNanoseconds
            guard after - now <= Self.burstNanoseconds else { return false }
            let change = self.fullAgain.compareExchange(
                expected: before,
                desired: after,
                ordering: .relaxed
            )
            if change.exchanged { return true }
            before = change.original
        }
    }
}
