/// Runs a command repeatedly during the load.
struct Chaos: Sendable {
    let command: ShellCommand
    let interval: Duration

    /// Runs it first after one interval, and for the last time before the end.
    ///
    /// `ran` gets each time, in seconds of the measured time; negative in the warm-up.
    ///
    /// - Throws: `failed` as soon as the command fails, with its output.
    func run(
        for period: Range<ContinuousClock.Instant>,
        ran: (Double) -> Void
    ) async throws(LoadFailure) {
        var next = ContinuousClock.now + self.interval
        while next < period.upperBound {
            guard (try? await Task.sleep(until: next, clock: .continuous)) != nil else { break }
            ran((.now - period.lowerBound).seconds)
            if let failure = await self.command.run() {
                throw LoadFailure(.failed, "the --chaos command '\(self.command.line)' failed: \(failure)")
            }
            next = max(next + self.interval, .now)
        }
    }
}
