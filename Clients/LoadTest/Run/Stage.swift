import Foundation
import Synchronization

/// One measurement: warm-up, the measured time, and the wait for the last response.
struct Stage: Sendable {
    struct Outcome: Sendable {
        var measurements: Measurements
        /// The actual length of the measured time.
        var seconds: Double
        /// When the last response had come and no more requests were made.
        var ended: ContinuousClock.Instant
        var loadEnded: ContinuousClock.Instant
        var server: ServerFigures?
        /// When the command of `--chaos` was run, in seconds of the measured time.
        var chaosSeconds: [Double] = []
        var isInterrupted = false
        /// The failure of the command of `--chaos`.
        var failure: LoadFailure?
    }

    let clients: Clients
    /// Requests per second of this process; `nil` for a closed loop.
    let rate: Double?
    var warmUp: Duration
    var duration: Duration
    /// Path of a metrics file of the server, if there is one.
    let serverMetrics: String?
    let live: LiveLine?

    /// Measures, with a warm-up that begins at this time.
    ///
    /// It ends early after a signal, or if the command of `--chaos` fails. The result has the
    /// measurements up to then.
    func run(at start: ContinuousClock.Instant) async -> Outcome {
        let measured = start + self.warmUp
        let period = measured..<measured + self.duration
        let recorder = Recorder(period: period)
        for worker in self.clients.workers { worker.join(recorder) }
        try? await Task.sleep(until: start, tolerance: .zero, clock: .continuous)

        async let watched = self.watch(recorder, period)
        let chaosTimes = Mutex<[Double]>([])
        let ending = await self.load(from: start, period) { time in chaosTimes.withLock { $0.append(time) } }
        let end = min(ContinuousClock.now, period.upperBound)
        for retry in self.clients.retries?.takeAll() ?? [] { retry.worker.giveUp(retry) }
        await self.clients.stop()
        for retry in self.clients.retries?.takeAll() ?? [] { retry.worker.giveUp(retry) }
        recorder.end()
        let server = await watched
        var outcome = Outcome(
            measurements: recorder.close(),
            seconds: max(0, (end - measured).seconds),
            ended: ContinuousClock.Instant.now,
            loadEnded: end,
            server: server,
            chaosSeconds: chaosTimes.withLock { $0 }
        )
        switch ending {
        case .over: break
        case .interrupted: outcome.isInterrupted = true
        case .failed(let failure): outcome.failure = failure
        }
        return outcome
    }

    /// How a measurement ended.
    private enum LoadEnd: Sendable {
        case over
        case interrupted
        case failed(LoadFailure)
    }

    /// Runs the load until the end of the measured time, or an earlier event.
    private func load(
        from start: ContinuousClock.Instant,
        _ period: Range<ContinuousClock.Instant>,
        chaosRan: @escaping @Sendable (Double) -> Void
    ) async -> LoadEnd {
        await withTaskGroup(of: LoadEnd?.self) { group in
            group.addTask {
                await self.arrive(from: start, to: period.upperBound)
                return .over
            }
            group.addTask {
                await Interruption.wait()
                return Interruption.happened ? .interrupted : nil
            }
            group.addTask { await self.chaos(period, ran: chaosRan).map { .failed($0) } }
            var first: LoadEnd?
            for await ending in group {
                guard let ending else { continue }
                group.cancelAll()
                // An error of the command that was running takes precedence.
                if case .failed = ending { first = ending }
                first = first ?? ending
            }
            return first ?? .over
        }
    }

    private func arrive(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) async {
        if let rate = self.rate {
            let plan = self.clients.plan
            let seed = SplitMix64.mix(plan.seed &+ 0x5EED &+ UInt64(plan.process))
            let arrivals = Arrivals(plan.arrivals, rate: rate, seed: seed)
            let pacer = Pacer(workers: self.clients.workers, retries: self.clients.retries)
            await pacer.run(arrivals, from: start, to: end)
        } else {
            for worker in self.clients.workers { worker.startClosedLoop() }
            try? await Task.sleep(until: end, tolerance: .zero, clock: .continuous)
        }
    }

    /// - Returns: Why the command failed, immediately; `nil` if it did not, or there is none.
    private func chaos(
        _ period: Range<ContinuousClock.Instant>,
        ran: (Double) -> Void
    ) async -> LoadFailure? {
        guard let line = self.clients.plan.chaos else { return nil }
        let chaos = Chaos(
            command: ShellCommand(line: line),
            interval: .seconds(self.clients.plan.chaosIntervalSeconds)
        )
        do throws(LoadFailure) {
            try await chaos.run(for: period, ran: ran)
            return nil
        } catch {
            self.live?.say(error.message)
            return error
        }
    }

    /// Prints progress, reads the server's metrics and gives up on overdue notifications, once a
    /// second until the end.
    private func watch(
        _ recorder: Recorder,
        _ period: Range<ContinuousClock.Instant>
    ) async -> ServerFigures? {
        var server: ServerFigures? = self.serverMetrics.map { _ in ServerFigures() }
        var next = ContinuousClock.now
        while !recorder.hasEnded {
            next += .seconds(1)
            try? await Task.sleep(until: next, clock: .continuous)
            self.clients.expire()
            if .now >= period.lowerBound, let path = self.serverMetrics,
                let text = try? String(contentsOfFile: path, encoding: .utf8)
            {
                server?.add(ServerSample(text: text))
            }
            let duration = self.duration.seconds
            guard let live = self.live, live.isDue(of: duration) else { continue }
            let waiting = self.clients.workers.reduce(0) { $0 + $1.waitingCount }
            live.show(
                recorder.takeRecent(),
                waiting: waiting,
                second: (.now - period.lowerBound).seconds,
                of: duration
            )
        }
        return server
    }
}
