import Synchronization

/// How many frames that cost a peer nothing all connections of an account may send: 4,000 at once,
/// and 4,000 a second.
///
/// A leaky bucket kept as one moment, at which all that was used up is there again (the generic cell
/// rate algorithm of ATM).
package final class ControlFramePace: Sendable {
    /// Of all connections of an account.
    package static let framesPerSecondMax = 4 * ControlFrameBudget.framesPerSecondMax
    private static let frameNanoseconds = 1_000_000_000 / Int64(framesPerSecondMax)
    private static let burstNanoseconds: Int64 = 1_000_000_000

    private let fullAgain = Atomic<Int64>(0)

    package init() {}

    /// A control frame arrived.
    ///
    /// - Returns: `false` if it was one too many.
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
