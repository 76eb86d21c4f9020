import Foundation
import RecordClient
import RecordModel
import Synchronization
import Testing
import WireProtocol

@testable import tidemark_load

/// Many tenants in one run: who they are, and what is made of what each got.
@Suite
struct TenantTests {
    // MARK: Fairness

    @Test(
        arguments: [
            ([1, 1, 1, 1], 1), ([4, 0, 0, 0], 0.25), ([1, 3], 0.8), ([], 1), ([0, 0], 1), ([7], 1),
        ] as [([Double], Double)]
    )
    func `Jain's index is 1 for equal shares, and 1/n if one tenant has everything`(
        shares: [Double],
        index: Double
    ) {
        #expect(abs(Fairness.jain(shares) - index) < 1e-12)
    }

    @Test
    func `a small demand is met in full, and the others get equal shares`() {
        #expect(Fairness.maxMin(capacity: 12, demands: [1, 100, 3, 5]) == [1, 4, 3, 4])
        #expect(Fairness.maxMin(capacity: 12, demands: [1, 2, 3]) == [1, 2, 3])
        #expect(Fairness.maxMin(capacity: 9, demands: [20, 10, 30]) == [3, 3, 3])
    }

    @Test
    func `a tenant with more than its fair share is not more than satisfied`() {
        // Four were done; the second asked for one only, and the first took half of what was the third's.
        let satisfactions = Fairness.satisfactions(work: [2.25, 1, 0.75], demands: [10, 1, 10])
        #expect(satisfactions == [1, 1, 0.5])
    }

    // MARK: Roles

    @Test
    func `a hundred tenants are those of the table, in an order of the seed`() {
        let mix = TenantMix(tenants: 100, seed: 7)
        for kind in TenantClass.allCases {
            #expect(mix.classes.count { $0 == kind } == kind.weight, "\(kind)")
        }
        #expect(mix == TenantMix(tenants: 100, seed: 7))
        #expect(mix != TenantMix(tenants: 100, seed: 8))
        #expect(TenantClass.allCases.reduce(0) { $0 + $1.weight } == 100)
    }

    @Test(arguments: 4...130)
    func `any number of tenants is dealt out, and has equals`(tenants: Int) {
        let mix = TenantMix(tenants: tenants, seed: 1)
        #expect(mix.classes.count == tenants)
        let ordinary = mix.classes.count { $0 == .ordinary }
        #expect(ordinary >= 2)
        #expect(abs(Double(ordinary) - 0.6 * Double(tenants)) <= 1)
    }

    @Test(arguments: TenantClass.allCases)
    func `what a class does fits a request, and its records`(kind: TenantClass) {
        let settings = kind.settings(Self.plan.load)
        #expect(settings.underWayMax <= 128)
        #expect(settings.batch <= Bounds.defaults.requestItemsMax)
        if kind == .batches { #expect(settings.plainKeys >= settings.batch * settings.underWayMax) }
        #expect(settings.plainKeys >= 2 * Layout.keysPerBucket)
    }

    // MARK: Refusals

    @Test(arguments: [(TenantClass.ordinary, 1), (.bursts, 0)])
    func `who has one request at a time waits with it, who comes in bursts does not`(
        kind: TenantClass,
        underWay: Int
    ) throws {
        let retries = Retries()
        var settings = kind.settings(Self.plan.load)
        settings.retries = retries
        let worker = Worker(
            client: Self.target.client(user: 0, installation: 1),
            number: 0,
            settings: settings,
            pushListener: PushListener(subscription: ""),
            userDevices: UserDevices()
        )
        let now = ContinuousClock.now
        let recorder = Recorder(period: now..<now + .seconds(3_600))
        worker.join(recorder)
        let call = worker.state.withLock { state in
            state.underWay = 1
            return worker.request(for: .save, due: now, &state)
        }
        // A server may name a longer time than that of a reservation.
        let refusal = Failure(code: .requestRateLimited, message: "", retry: .after(milliseconds: 10_000))
        let waits = worker.putAside(call, .failure(.refused(refusal)), at: now)
        #expect(waits == (kind == .ordinary))
        guard waits else { return }
        #expect(worker.state.withLock { $0.underWay } == underWay)
        let retry = try #require(retries.takeAll().first)
        #expect(retry.due - now == .seconds(5))
        worker.state.withLock { $0.isStopping = true }
        worker.giveUp(retry)
        #expect(worker.state.withLock { $0.underWay } == 0)
        let figures = try #require(recorder.close().operations[.save])
        #expect(figures.reserved == 1 && figures.failureCount == 1 && figures.waitedMilliseconds == 5_000)
    }

    // MARK: Figures

    private static let plan = TenantPlan(
        tenants: 5,
        warmUpSeconds: 0,
        durationSeconds: 2,
        timeoutSeconds: 30,
        recordBytes: 200,
        seed: 1,
        jainMin: 0.95,
        keepsZones: false
    )

    private static let target = Target(
        host: "db.example.org",
        port: 7_430,
        trust: .system,
        container: "iCloud.org.example.load",
        environment: .development,
        tokens: ["secret"]
    )

    /// Two seconds of a tenant: so many saves of some milliseconds, and refusals that told it to wait 100 ms.
    private static func measured(saves: Int, milliseconds: Int, refusals: Int = 0) -> Measurements {
        let start = ContinuousClock.now
        let recorder = Recorder(period: start..<start + .seconds(2))
        for _ in 0..<saves {
            recorder.succeeded(.save, due: start, at: start + .milliseconds(milliseconds), records: 1)
        }
        for _ in 0..<refusals {
            recorder.reserved(.save, wait: .milliseconds(100), at: start)
            recorder.failed(.save, "code 7 requestRateLimited", at: start)
        }
        return recorder.close()
    }

    /// Three equal tenants, and a greedy one that was refused.
    private static func result(_ saves: [Int]) -> TenantResult {
        TenantResult(
            startedAt: Date(timeIntervalSince1970: 0),
            plan: self.plan,
            context: RunContext(self.target),
            classes: [.ordinary, .ordinary, .ordinary, .greedy8],
            prices: TenantPrices(milliseconds: [.ordinary: [.save: 2]]),
            TenantStage.Outcome(
                measurements: saves.map { self.measured(saves: $0, milliseconds: 5) }
                    + [self.measured(saves: 100, milliseconds: 40, refusals: 3)],
                seconds: 2,
                isInterrupted: false
            )
        )
    }

    @Test
    func `work counts as what it takes alone, and tenants are compared with their like`() {
        let result = Self.result([100, 100, 100])
        #expect(result.tenants.map(\.workSeconds) == [0.2, 0.2, 0.2, 0.2])
        #expect(result.tenants.map(\.share).allSatisfy { abs($0 - 0.25) < 1e-12 })
        #expect(result.tenants[3].demandSeconds == 16)
        #expect(result.tenants[3].refusals == 3)
        #expect(result.tenants[3].waitedMilliseconds == 300)
        #expect(result.indices.equalWork == 1)
        #expect(result.isFair)
        #expect(!Self.result([100, 100, 10]).isFair)
    }

    @Test
    func `each class has its least, median and most tenant, by every report`() throws {
        let result = Self.result([90, 100, 110])
        let text = TenantText(result: result).text
        let lines = text.split(separator: "\n")
        #expect(lines[1].hasPrefix("ordinary (3)") && lines[1].contains("least") && lines[1].contains(" 90 "))
        #expect(lines[2].contains("median") && lines[2].contains(" 100 "))
        #expect(lines[3].contains("most") && lines[3].contains(" 110 "))
        #expect(lines[4].hasPrefix("greedy-8 (1)") && lines[4].contains("0.3"))
        #expect(
            text.contains(
                "Jain's index of the 3 ordinary tenants: 0.9934 by work (at least 0.950 is required)"
            )
        )
        let page = TenantPage(result: result).text
        #expect(page.contains("greedy-8 (1)") && page.contains("0.993") && !page.contains("<script"))
        let json = try JSONSerialization.jsonObject(with: TenantJSON(result).data()) as? [String: Any]
        let tenants = try #require(json?["tenants"] as? [[String: Any]])
        #expect(tenants.map { $0["class"] as? String } == ["ordinary", "ordinary", "ordinary", "greedy-8"])
        #expect(tenants[3]["waitedMilliseconds"] as? Double == 300)
        #expect(TenantText(result: Self.result([1, 1, 100])).text.contains("NOT REACHED"))
    }
}
