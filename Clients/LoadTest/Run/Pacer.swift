/// Hands out arrivals when they are due, to the workers in turn, and sends those back whose time has come.
struct Pacer: Sendable {
    /// How late a retry may be sent.
    private static let retryLateness = Duration.milliseconds(1)

    let workers: [Worker]
    /// `nil`: nobody comes back.
    let retries: Retries?

    /// Returns at the end of the measured time, or when it is cancelled.
    func run(_ arrivals: Arrivals, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) async
    {
        var arrivals = arrivals
        var due = start + arrivals.next()
        var turn = 0
        while !Task.isCancelled {
            let now = ContinuousClock.now
            // Who was due before the end is counted, also when this comes late itself.
            while due <= now, due < end {
                self.workers[turn].arrive(due: due)
                turn = (turn + 1) % self.workers.count
                due = start + arrivals.next()
            }
            guard now < end else { return }
            for retry in self.retries?.take(through: .now) ?? [] { retry.worker.comeBack(retry) }
            let next = self.retries == nil ? min(due, end) : min(due, end, now + Self.retryLateness)
            // Without a tolerance: whatever comes late here is counted as the server's.
            guard (try? await Task.sleep(until: next, tolerance: .zero, clock: .continuous)) != nil else {
                return
            }
        }
    }
}
