/// Hands out arrivals when they are due, to the workers in turn.
struct Pacer: Sendable {
    let workers: [Worker]

    /// Returns at the end of the measured time.
    func run(_ arrivals: Arrivals, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) async
    {
        var arrivals = arrivals
        var due = start + arrivals.next()
        var turn = 0
        while due < end, !Task.isCancelled {
            if due > .now {
                // Without a tolerance: whatever comes late here is counted as the server's.
                guard (try? await Task.sleep(until: due, tolerance: .zero, clock: .continuous)) != nil else {
                    return
                }
            }
            let now = ContinuousClock.now
            while due <= now, due < end {
                self.workers[turn].arrive(due: due)
                turn = (turn + 1) % self.workers.count
                due = start + arrivals.next()
            }
        }
        try? await Task.sleep(until: end, tolerance: .zero, clock: .continuous)
    }
}
