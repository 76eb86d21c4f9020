import Foundation

/// One measurement: warm-up, the measured time, and until the last answer has come.
struct Stage: Sendable {
    struct Outcome: Sendable {
        var measurements: Measurements
        var server: ServerFigures?
        /// When the command of `--chaos` was run, in seconds of the measured time.
        var chaosSeconds: [Double] = []
    }

    let crew: Crew
    /// Requests a second of this process; `nil`: a closed loop.
    let rate: Double?
    let warmUp: Duration
    let duration: Duration
    /// A file of the server's, or none.
    let serverMetrics: String?
    let live: LiveLine?

    /// Measures, with a warm-up that begins at a moment.
    ///
    /// - Throws: `failed` when the command of `--chaos` does.
    func run(at start: ContinuousClock.Instant) async throws(LoadFailure) -> Outcome {
        let measured = start + self.warmUp
        let period = measured..<measured + self.duration
        let recorder = Recorder(period: period)
        for worker in self.crew.workers { worker.join(recorder) }
        try? await Task.sleep(until: start, tolerance: .zero, clock: .continuous)

        async let chaosResult = self.chaos(period)
        async let watched = self.watch(recorder, period)
        if let rate = self.rate {
            let plan = self.crew.plan
            let seed = SplitMix64.mix(plan.seed &+ 0x5EED &+ UInt64(plan.process))
            let arrivals = Arrivals(plan.arrivals, rate: rate, seed: seed)
            await Pacer(workers: self.crew.workers).run(arrivals, from: start, to: period.upperBound)
        } else {
            for worker in self.crew.workers { worker.startClosedLoop() }
            try? await Task.sleep(until: period.upperBound, tolerance: .zero, clock: .continuous)
        }
        await self.crew.stop()
        recorder.end()
        let server = await watched
        return try Outcome(
            measurements: recorder.close(),
            server: server,
            chaosSeconds: await chaosResult.get()
        )
    }

    private func chaos(
        _ period: Range<ContinuousClock.Instant>
    ) async -> Result<[Double], LoadFailure> {
        guard let line = self.crew.plan.chaos else { return .success([]) }
        let chaos = Chaos(
            command: ShellCommand(line: line),
            interval: .seconds(self.crew.plan.chaosIntervalSeconds)
        )
        do throws(LoadFailure) {
            return .success(try await chaos.run(for: period))
        } catch {
            return .failure(error)
        }
    }

    /// Prints how it goes, reads the server's figures and looks for what is overdue, once a second until the end.
    private func watch(
        _ recorder: Recorder,
        _ period: Range<ContinuousClock.Instant>
    ) async -> ServerFigures? {
        var server: ServerFigures? = self.serverMetrics.map { _ in ServerFigures() }
        var next = ContinuousClock.now
        while !recorder.hasEnded {
            next += .seconds(1)
            try? await Task.sleep(until: next, clock: .continuous)
            self.crew.expire()
            if .now >= period.lowerBound, let path = self.serverMetrics,
                let text = try? String(contentsOfFile: path, encoding: .utf8)
            {
                server?.add(ServerSample(text: text))
            }
            let waiting = self.crew.workers.reduce(0) { $0 + $1.waitingCount }
            self.live?.show(
                recorder.takeRecent(),
                waiting: waiting,
                second: (.now - period.lowerBound).seconds
            )
        }
        return server
    }
}
