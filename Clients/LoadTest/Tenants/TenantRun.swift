import Foundation
import RecordClient
import Synchronization

/// A run of many tenants: preparation, prices of requests without load, the load, verification and
/// clean-up.
struct TenantRun: Sendable {
    let plan: TenantPlan
    let target: Target
    let live: LiveLine

    /// - Throws: `LoadFailure` if there are no results. A failed verification is in the results.
    func run() async throws(LoadFailure) -> TenantResult {
        let mix = TenantMix(tenants: self.plan.tenants, seed: self.plan.seed)
        let clients = self.clients(mix)
        do throws(LoadFailure) {
            let result = try await self.run(clients, mix)
            await clients.disconnect()
            return result
        } catch {
            await clients.disconnect()
            throw error
        }
    }

    /// Greedy and slow tenants have threads of their own, so that ordinary ones wait for the server
    /// only.
    private func clients(_ mix: TenantMix) -> Clients {
        let load = self.plan.load
        let greedy = ClientThreads(count: 1)
        let slow = ClientThreads(count: 1)
        return Clients(
            load,
            self.target,
            mix.classes.map { kind in
                let threads: ClientThreads =
                    switch kind {
                    case .ordinary: .shared
                    case .slow: slow
                    default: greedy
                    }
                return (kind.settings(load), threads)
            }
        )
    }

    private func run(_ clients: Clients, _ mix: TenantMix) async throws(LoadFailure) -> TenantResult {
        let preparation = Preparation(clients: clients)
        self.live.say("connecting, with tenants: \(self.plan.tenants)")
        let server = try await Interruption.cancelling { () async throws(LoadFailure) -> String in
            try await clients.connect()
        }
        var result: TenantResult
        do throws(LoadFailure) {
            result = try await self.load(clients, mix, preparation)
        } catch {
            if !self.plan.keepsZones { await self.tidyUp(preparation) }
            throw error
        }
        result.context.server = server
        if !self.plan.keepsZones, result.verdict?.isGood != false { await self.tidyUp(preparation) }
        return result
    }

    private func load(
        _ clients: Clients,
        _ mix: TenantMix,
        _ preparation: Preparation
    ) async throws(LoadFailure) -> TenantResult {
        let records = mix.classes.reduce(0) { $0 + $1.records }
        self.live.say("saving \(Digits.count(records)) records")
        let tokens = try await Interruption.cancelling { () async throws(LoadFailure) -> [[[UInt8]]] in
            try await preparation.run()
            let tokens = try await preparation.tokens()
            await clients.listen(from: tokens.map { $0[$0.count - 1] })
            return tokens
        }
        let ticks = clients.workers.map { worker in worker.state.withLock { $0.keys.ticks } }
        let stage = TenantStage(
            clients: clients,
            classes: mix.classes,
            warmUp: .seconds(self.plan.warmUpSeconds),
            duration: .seconds(self.plan.durationSeconds),
            live: self.live
        )
        self.live.say("measuring each kind of request alone")
        let prices = await stage.prices()
        let startedAt = Date()
        let outcome = await stage.run()
        var result = TenantResult(
            startedAt: startedAt,
            plan: self.plan,
            context: RunContext(self.target),
            classes: mix.classes,
            prices: prices,
            outcome
        )
        guard !result.isInterrupted else { return result }
        self.live.say("reading everything back")
        result.verdict = try await Verification(clients: clients, tokens: tokens, ticks: ticks)
            .runUnlessInterrupted()
        result.isInterrupted = result.verdict == nil
        return result
    }

    private func tidyUp(_ preparation: Preparation) async {
        do throws(LoadFailure) {
            try await preparation.undo()
        } catch {
            self.live.say(
                "the zones load-\(TenantPlan.name)-0-… were left behind, and the next run removes them: \(error.message)"
            )
        }
    }
}

/// The parameters of a run of many tenants.
struct TenantPlan: Codable, Sendable {
    /// Name in the zones.
    static let name = "tenants"

    var tenants: Int
    var warmUpSeconds: Double
    var durationSeconds: Double
    var timeoutSeconds: Double
    var recordBytes: Int
    var seed: UInt64
    /// The minimum of Jain's index of the ordinary tenants' work, or `nil` if there is none.
    var jainMin: Double?
    var keepsZones: Bool

    /// The plan that all tenants have in common, as that of another workload.
    ///
    /// The rest depends on their class.
    var load: LoadPlan {
        LoadPlan(
            workload: Self.name,
            mix: TenantClass.ordinaryMix,
            connections: self.tenants,
            zones: 1,
            records: self.tenants * TenantClass.ordinary.records,
            recordBytes: self.recordBytes,
            assetBytes: 1,
            batch: TenantClass.batch,
            page: TenantClass.page,
            distribution: .uniform,
            rate: nil,
            arrivals: .poisson,
            underWayMax: 1,
            warmUpSeconds: self.warmUpSeconds,
            durationSeconds: self.durationSeconds,
            timeoutSeconds: self.timeoutSeconds,
            seed: self.seed,
            retries: true,
            verifies: true,
            chaos: nil,
            chaosIntervalSeconds: 1,
            run: Self.name,
            process: 0,
            processes: 1,
            keepsZones: self.keepsZones
        )
    }
}
