import Foundation
import Synchronization

/// Distributes arrivals to the workers in turn when they are due, and sends retries at their time.
struct Pacer: Sendable {
    /// How long arrivals are collected at most.
    ///
    /// At a high rate, waking up costs more than sending.
    private static let collected = Duration.microseconds(250)
    /// How late a retry may be sent.
    private static let retryLateness = Duration.milliseconds(1)
    /// How often it checks for cancellation.
    private static let sleepMax = Duration.milliseconds(20)

    let workers: [Worker]
    /// `nil` without retries.
    let retries: Retries?

    /// Returns at the end of the measured time, or when it is cancelled.
    ///
    /// It has a thread of its own. A sleeping task would be woken through two other threads, which
    /// cost a quarter of this program's time.
    func run(_ arrivals: Arrivals, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) async
    {
        let cancellation = Cancellation()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    self.pace(arrivals, from: start, to: end, until: cancellation)
                    continuation.resume()
                }
            }
        } onCancel: {
            cancellation.flag.store(true, ordering: .relaxed)
        }
    }

    private final class Cancellation: Sendable {
        let flag = Atomic(false)
    }

    private func pace(
        _ arrivals: Arrivals,
        from start: ContinuousClock.Instant,
        to end: ContinuousClock.Instant,
        until cancellation: Cancellation
    ) {
        var arrivals = arrivals
        var due = start + arrivals.next()
        var turn = 0
        while !cancellation.flag.load(ordering: .relaxed) {
            let now = ContinuousClock.now
            // Arrivals before the end count, even if this runs late.
            while due <= now, due < end {
                self.workers[turn].arrive(due: due)
                turn = (turn + 1) % self.workers.count
                due = start + arrivals.next()
            }
            guard now < end else { return }
            for retry in self.retries?.take(through: .now) ?? [] { retry.worker.comeBack(retry) }
            let latest = now + (self.retries == nil ? Self.sleepMax : Self.retryLateness)
            // Any lateness here would be charged to the server.
            Self.sleep(until: min(max(due, now + Self.collected), end, latest))
        }
    }

    /// Sleeps for `sleepMax` at most.
    private static func sleep(until time: ContinuousClock.Instant) {
        let left = time - .now
        guard left > .zero else { return }
        var length = timespec(tv_sec: 0, tv_nsec: Int(left.components.attoseconds / 1_000_000_000))
        nanosleep(&length, nil)
    }
}
