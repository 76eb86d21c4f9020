import ArgumentParser
import Foundation
import RecordModel

/// Runs one workload or a mix of them.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Put load on a server; the default subcommand.",
        discussion: """
            WORKLOAD is one of save, save-batch, delete, fetch, query, changes, push,
            assets, sync, or mix. A sync has several devices, which save, listen and
            fetch. It lasts until the last of the other devices has fetched the save.

            Latencies count from the time a request was due. So with --rate, a stalled
            server is charged for all requests that would have come meanwhile. Use a
            container for tests: zones whose names begin with "load-" are made in each
            user's private database, and deleted at the end.
            """
    )

    @Argument(help: "The workload.")
    var workload: String

    @OptionGroup(title: "Connection")
    var connection: LoadConnectionOptions

    @OptionGroup(title: "Load")
    var load: LoadOptions

    @Option(
        help: ArgumentHelp(
            "With mix: a file with a step and its weight per line, as \"fetch 40\".",
            valueName: "file"
        )
    )
    var weights: String?

    @Flag(help: "Read back everything that was acknowledged at the end, by feed and by fetch.")
    var verify = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "With --verify: clients that follow all feeds during the load, and compare them with what was acknowledged.",
            valueName: "number"
        )
    )
    var followers = 0

    @Option(
        help: ArgumentHelp("A shell command to run repeatedly during the load.", valueName: "command")
    )
    var chaos: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("With --chaos: seconds between two runs of the command.", valueName: "seconds")
    )
    var chaosInterval = 10.0

    @Option(
        help: ArgumentHelp(
            "The file that the server writes its metrics to.",
            discussion:
                "It should do so every second: tidemark serve --metrics-file FILE --set metrics_file_interval_s=1.",
            valueName: "file"
        )
    )
    var serverMetrics: String?

    @Option(help: ArgumentHelp("Write the full report as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write a page for people, with charts.", valueName: "file.html"))
    var report: String?

    @Flag(help: "Raise --rate until it no longer holds, and print the highest rate that did.")
    var ramp = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "With --ramp: the highest p99 in milliseconds at which a rate holds, if nothing fails.",
            valueName: "ms"
        )
    )
    var p99 = 50.0

    @Option(
        name: .customLong("fail-if"),
        help: ArgumentHelp(
            "Exit with 1 if a figure of all requests together is beyond a bound: p99>20ms, failed>0, failed>0.1%, rate<500. Repeatable.",
            discussion:
                "The figures are p50, p90, p99, p99.9 and max (us, ms or s), failed (a number or %) and rate. With a bound, failed requests count only as it says.",
            valueName: "bound"
        ),
        transform: FailureBound.init
    )
    var failIf: [FailureBound] = []

    @Flag(
        help:
            "Request 80 % of --rate, then three times --rate, then half; print the results of admitted requests."
    )
    var overload = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Number of processes, all started with the same --run, that share the rate and the first one's report.",
            valueName: "number"
        )
    )
    var processes = 1

    @Option(help: "A name for the common run of several processes.")
    var run = "run"

    @Flag(help: "Keep the zones.")
    var keep = false

    mutating func validate() throws {
        _ = try self.mix()
        guard self.weights == nil || self.workload == "mix" else {
            throw ValidationError("--weights needs the workload mix.")
        }
        try LoadOptions.check(self.chaosInterval, 0.1...100_000, "--chaos-interval")
        try LoadOptions.check(self.processes, 1...100, "--processes")
        try LoadOptions.check(self.followers, 0...100, "--followers")
        guard self.followers == 0 || (self.verify && !self.ramp && !self.overload) else {
            throw ValidationError("--followers needs --verify, and neither --ramp nor --overload.")
        }
        try LoadOptions.check(self.p99, 0.001...3_600_000, "--p99")
        guard !self.ramp || (self.load.rate != nil && self.processes == 1 && self.chaos == nil) else {
            throw ValidationError("--ramp needs a --rate to begin with, one process, and no --chaos.")
        }
        guard
            !self.overload
                || (self.load.rate != nil && self.processes == 1 && self.chaos == nil && !self.ramp)
        else {
            throw ValidationError(
                "--overload needs a --rate, one that the server can do; one process, no --chaos, no --ramp."
            )
        }
        let isName =
            !self.run.isEmpty && self.run.utf8.count <= 64
            && self.run.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        guard isName else { throw ValidationError("--run takes up to 64 letters and digits.") }
    }

    func run() async throws {
        let json = try self.json.map { path throws(LoadFailure) in try OutputFile(path) }
        let report = try self.report.map { path throws(LoadFailure) in try OutputFile(path) }
        let result: LoadResult
        do {
            let target = try self.connection.target()
            Interruption.arm()
            defer { Interruption.disarm() }
            result = try await self.result(of: target)
        } catch {
            json?.discard()
            report?.discard()
            throw error
        }
        if result.plan.process == 0 {
            print(PrintedText.lines(TextReport(result: result).text), terminator: "")
            try json?.write(JSONReport(result).data())
            try report?.write(Data(HTMLReport(result: result).text.utf8))
        } else {
            json?.discard()
            report?.discard()
        }
        if result.isInterrupted { throw LoadFailure(.interrupted, "interrupted") }
        if let failure = result.chaosFailure { throw LoadFailure(.failed, failure) }
        if let verdict = result.verdict, !verdict.isGood {
            throw LoadFailure(
                .violated,
                "\(verdict.violations.count) findings differ from what was acknowledged; the zones were kept for you to look at"
            )
        }
        try self.judge(result)
    }

    /// Whether the figures are good enough; the first process judges those of all.
    private func judge(_ result: LoadResult) throws(LoadFailure) {
        guard result.plan.process == 0 else { return }
        let faults = self.failIf.compactMap { $0.fault(in: result) }
        guard faults.isEmpty else { throw LoadFailure(.beyondBound, faults.joined(separator: "; ")) }
        let failures = result.measurements.failureCount
        guard failures > 0, self.failIf.isEmpty, result.expectsNoFailure else { return }
        throw LoadFailure(
            .failed,
            "\(failures) requests failed, as the table says. Use --fail-if to say how many may."
        )
    }

    private func result(of target: Target) async throws -> LoadResult {
        let live = LiveLine()
        var run = LoadRun(
            plan: try self.plan(),
            target: target,
            serverMetrics: self.serverMetrics,
            live: live
        )
        if self.ramp, let rate = self.load.rate {
            run.ramp = Ramp(firstRate: rate, p99MillisecondsMax: self.p99)
        }
        if self.overload, let rate = self.load.rate { run.overload = OverloadTest(rate: rate) }
        guard self.processes > 1 else { return try await run.run() }

        let coordinator = try await Interruption.cancelling {
            () async throws(LoadFailure) -> RunCoordinator in
            try await self.join(target)
        }
        run.coordinator = coordinator
        run.plan.process = coordinator.process
        live.say("process \(coordinator.process) of \(self.processes) of the run \(self.run)")
        do throws(LoadFailure) {
            let own = try await run.run()
            let result = try await Interruption.cancelling { () async throws(LoadFailure) -> LoadResult in
                try await Self.share(own, coordinator, live)
            }
            await Self.leave(coordinator)
            return result
        } catch {
            await Self.leave(coordinator)
            throw error
        }
    }

    private func join(_ target: Target) async throws(LoadFailure) -> RunCoordinator {
        try await RunCoordinator.join(
            target.client(user: 0, installation: UInt64.random(in: 0...UInt64.max)),
            run: self.run,
            processes: self.processes,
            waitMax: .seconds(self.load.duration + self.load.warmUp + 2 * self.load.timeout)
        )
    }

    /// Sends the results of all processes to the first.
    private static func share(
        _ own: LoadResult,
        _ coordinator: RunCoordinator,
        _ live: LiveLine
    ) async throws(LoadFailure) -> LoadResult {
        guard coordinator.process == 0 else {
            try await coordinator.leave(own)
            live.say("the first process has the result")
            return own
        }
        var result = own
        for other in try await coordinator.gather() { result.add(other) }
        return result
    }

    private static func leave(_ coordinator: RunCoordinator) async {
        // If the server is gone, that was reported before.
        if coordinator.process == 0 { try? await coordinator.remove() }
        await coordinator.end()
    }

    private func mix() throws -> Mix {
        if let step = Step(rawValue: self.workload) { return Mix(only: step) }
        guard self.workload == "mix" else {
            let all = Step.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("There is no workload '\(self.workload)': use one of \(all), mix.")
        }
        guard let weights else { return .defaults }
        guard let text = try? String(contentsOfFile: weights, encoding: .utf8) else {
            throw ValidationError("The file of weights \(weights) cannot be read.")
        }
        do throws(Mix.Malformed) {
            return try Mix(text: text)
        } catch {
            throw ValidationError("\(weights): \(error.message)")
        }
    }

    private func plan() throws -> LoadPlan {
        LoadPlan(
            workload: self.workload,
            mix: try self.mix(),
            connections: self.load.connections,
            zones: self.load.zones,
            records: self.load.records,
            recordBytes: self.load.recordBytes,
            assetBytes: self.load.assetBytes,
            batch: self.load.batch,
            page: self.load.page,
            distribution: self.load.distribution,
            rate: self.load.rate,
            arrivals: self.load.arrivals,
            underWayMax: self.load.outstandingMax,
            warmUpSeconds: self.load.warmUp,
            durationSeconds: self.load.duration,
            timeoutSeconds: self.load.timeout,
            seed: self.load.seed,
            retries: self.load.retry || self.overload,
            verifies: self.verify,
            chaos: self.chaos,
            chaosIntervalSeconds: self.chaosInterval,
            run: self.run,
            process: 0,
            processes: self.processes,
            keepsZones: self.keep,
            followers: self.followers
        )
    }
}
