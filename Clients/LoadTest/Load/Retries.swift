import RecordModel
import Synchronization
import WireProtocol

/// Requests that were rejected with a reservation, until it begins.
final class Retries: Sendable {
    struct Retry: Sendable {
        let worker: Worker
        let call: Call
        let due: ContinuousClock.Instant
        let failure: Failure
    }

    private let start = ContinuousClock.now
    private let wheel = Mutex(RetryWheel<Retry>(now: 0))

    var count: Int { self.wheel.withLock { $0.count } }

    func add(_ retry: Retry) {
        // A millisecond late rather than early.
        let time = Int64((retry.due - self.start).milliseconds) + 1
        self.wheel.withLock { $0.add(retry, at: time) }
    }

    func take(through now: ContinuousClock.Instant) -> [Retry] {
        let time = Int64((now - self.start).milliseconds)
        return self.wheel.withLock { $0.take(through: time) }
    }

    func takeAll() -> [Retry] { self.wheel.withLock { $0.takeAll() } }
}

extension Failure {
    /// How long a patient client stays away, at most as long as a reservation may be ahead; `nil`
    /// if the server named no time.
    var waitMilliseconds: UInt32? {
        guard case .after(let milliseconds) = self.retry else { return nil }
        return min(milliseconds, UInt32(Bounds.reservationMillisecondsMax))
    }

    /// When a request that was rejected under load will be admitted, or `nil` if nothing was
    /// promised.
    var reservedMilliseconds: UInt32? {
        guard self.code == .requestRateLimited || self.code == .zoneBusy,
            case .after(let milliseconds) = self.retry,
            milliseconds <= Bounds.reservationMillisecondsMax
        else { return nil }
        return milliseconds
    }
}
