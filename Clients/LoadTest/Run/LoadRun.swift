import Foundation
import RecordModel
import Synchronization

/// A whole run: preparation, load, verification and clean-up.
struct LoadRun: Sendable {
    var plan: LoadPlan
    let target: Target
    /// Path of a metrics file of the server, if there is one.
    let serverMetrics: String?
    let live: LiveLine
    /// Coordinates this process with others of the same run; `nil` if there are none.
    var coordinator: RunCoordinator?
    /// `nil` for a single rate, or none.
    var ramp: Ramp?
    /// `nil` if there is no overload test.
    var overload: OverloadTest?

    /// Runs everything, and removes the run's zones from the server.
    ///
    /// They are removed also after an error or an interruption. They are kept if the verification
    /// failed, or on request.
    ///
    /// - Throws: `LoadFailure` if there are no results. A failed verification is in the results.
    func run() async throws(LoadFailure) -> LoadResult {
        let clients = Clients(self.plan, self.target)
        let result: LoadResult
        do throws(LoadFailure) {
            result = try await self.run(clients)
        } catch {
            await clients.disconnect()
            throw error
        }
        await clients.disconnect()
        return result
    }

    private func run(_ clients: Clients) async throws(LoadFailure) -> LoadResult {
        let preparation = Preparation(clients: clients)
        self.live.say("connecting, with connections: \(self.plan.connections), users: \(clients.users)")
        let server = try await Interruption.cancelling { () async throws(LoadFailure) -> String in
            try await clients.connect()
        }
        var result: LoadResult
        do throws(LoadFailure) {
            result = try await self.prepareAndLoad(clients, preparation)
        } catch {
            if !self.plan.keepsZones { await self.tidyUp(preparation) }
            throw self.hinted(error)
        }
        result.context.server = server
        // Keep wrong records for an investigation.
        if !self.plan.keepsZones, result.verdict?.isGood != false { await self.tidyUp(preparation) }
        return result
    }

    /// Deletes the run's zones, and reports failures to do so.
    private func tidyUp(_ preparation: Preparation) async {
        do throws(LoadFailure) {
            try await preparation.undo()
        } catch {
            self.live.say(
                "the zones load-\(self.plan.run)-\(self.plan.process)-… were left behind, and a run with the same "
                    + "--run removes them: \(error.message)"
            )
        }
    }

    /// Adds advice for a refusal in production, where a save cannot define a record type.
    private func hinted(_ failure: LoadFailure) -> LoadFailure {
        guard failure.code == .failed, self.target.environment == .production else { return failure }
        return LoadFailure(
            failure.code,
            "\(failure.message). Use a container in development, where the first save defines the record types, "
                + "or deploy its schema first."
        )
    }

    private func prepareAndLoad(
        _ clients: Clients,
        _ preparation: Preparation
    ) async throws(LoadFailure) -> LoadResult {
        self.live.say("saving \(Digits.count(self.plan.records)) records")
        typealias Ready = (tokens: [[[UInt8]]], start: ContinuousClock.Instant?)
        let (tokens, start) = try await Interruption.cancelling { () async throws(LoadFailure) -> Ready in
            try await preparation.run()
            let tokens = try await preparation.tokens()
            await clients.listen(from: tokens.map { $0[$0.count - 1] })
            return (tokens, try await self.coordinator?.awaitStart())
        }
        let ticks = clients.workers.map { worker in worker.state.withLock { $0.keys.ticks } }
        async let feedEnds = clients.follow(from: tokens)
        var result: LoadResult
        if let ramp = self.ramp {
            result = try await self.climb(ramp, clients)
        } else if let overload = self.overload {
            result = await self.overload(overload, clients)
        } else {
            let startedAt = Date()
            let rate = self.plan.rate.map { $0 / Double(self.plan.processes) }
            let outcome = await self.stage(clients, rate: rate, live: self.live).run(at: start ?? .now)
            result = self.result(startedAt, outcome)
        }
        clients.stopDevices()
        guard self.plan.verifies, !result.isInterrupted else { return result }
        self.live.say("reading everything back")
        for follower in clients.followers { follower.stop() }
        let ends = await feedEnds
        result.verdict = try await Verification(clients: clients, tokens: tokens, ticks: ticks)
            .runUnlessInterrupted()
        result.verdict?.feedEnds = ends
        result.isInterrupted = result.verdict == nil
        return result
    }

    func result(_ startedAt: Date, _ outcome: Stage.Outcome) -> LoadResult {
        LoadResult(startedAt: startedAt, plan: self.plan, context: RunContext(self.target), outcome)
    }

    func stage(_ clients: Clients, rate: Double?, live: LiveLine?) -> Stage {
        Stage(
            clients: clients,
            rate: rate,
            warmUp: .seconds(self.plan.warmUpSeconds),
            duration: .seconds(self.plan.durationSeconds),
            serverMetrics: self.serverMetrics,
            live: live
        )
    }

    /// Raises the rate until it no longer holds.
    ///
    /// - Returns: The steps, and the measurements at the highest rate that held, or at the first
    ///   one.
    private func climb(_ ramp: Ramp, _ clients: Clients) async throws(LoadFailure) -> LoadResult {
        var search = RampSearch(from: ramp.firstRate)
        var best: LoadResult?
        var steps: [LoadResult.RampStep] = []
        while let rate = search.rate {
            let startedAt = Date()
            let outcome = await self.stage(clients, rate: rate, live: nil).run(at: .now)
            let result = self.result(startedAt, outcome)
            let step = ramp.judge(result, at: rate)
            self.live.say(
                "\(Digits.rate(rate)) per second: p99 \(Digits.milliseconds(step.p99Milliseconds)) ms, "
                    + "\(Digits.rate(step.answered)) answered, \(step.held ? "held" : "too much")"
            )
            if best == nil || (step.held && rate > (search.highestHeld ?? 0)) { best = result }
            search.tried(rate, held: step.held)
            steps.append(step)
            if outcome.isInterrupted {
                best?.isInterrupted = true
                break
            }
        }
        guard var best else { throw LoadFailure(.usage, "no rate was tried") }
        best.ramp = steps
        return best
    }
}
