import Foundation
import TestSupport
import Testing

/// The load-test client, as a person uses it.
@Suite(.timeLimit(.minutes(10)))
struct LoadTestTests {
    private static let small = ["--connections", "4", "--records", "640", "--warm-up", "0.2"]

    @Test(arguments: [
        "save", "save-batch", "delete", "fetch", "query", "changes", "push", "assets", "sync",
    ])
    func `every workload measures what it does, and what it read was right`(workload: String) async throws {
        let load = try await LoadTestProcess.start()
        let outcome = try await load.begin(
            [workload, "--duration", "0.6", "--verify", "--batch", "10"] + Self.small
        ).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("none lost, duplicated or stale"))
        let result = try load.result()
        let names = workload == "assets" ? ["upload", "download"] : [workload]
        #expect(Set(result.operations.keys).isSubset(of: names))
        let operation = try #require(result.operations[names[0]])
        #expect(operation.answers > 0)
        #expect(operation.failures.isEmpty)
        let milliseconds = operation.milliseconds
        let ascending = [
            milliseconds.p50, milliseconds.p90, milliseconds.p99, milliseconds.p999, milliseconds.max,
        ]
        #expect(ascending == ascending.sorted() && ascending[0] > 0)
        // Those of the warm-up that were answered in the measured time are in one of them only.
        #expect(operation.histogram.counts.reduce(0, +) >= operation.answers - 4)
        #expect(result.perSecond.compactMap { $0[names[0]]?.answers }.reduce(0, +) >= operation.answers)
        #expect(operation.recordsPerSecond >= operation.ratePerSecond || workload == "changes")
        if workload == "save-batch" {
            #expect(abs(operation.recordsPerSecond / operation.ratePerSecond - 10) < 0.1)
        }
        #expect((result.verification?.records ?? 0) >= 640)
    }

    @Test
    func `an open loop keeps its rate, and a server that stands still is charged for those who wait`()
        async throws
    {
        let load = try await LoadTestProcess.start()
        // In the middle of it the server stands still for a second: each of 4 connections has one
        // request under way meanwhile, and some hundred are due.
        let server = try #require(load.server.processID)
        let outcome = try await load.begin(
            [
                "fetch", "--rate", "100", "--arrivals", "uniform", "--duration", "4", "--outstanding", "1",
                "--chaos", "kill -STOP \(server); sleep 1; kill -CONT \(server)", "--chaos-interval", "2.5",
            ] + Self.small
        ).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let operation = try #require(try load.result().operations["fetch"])
        #expect(operation.failures.isEmpty)
        // A quarter of all was due while it stood still, and waited for half a second on average.
        #expect(operation.milliseconds.max > 900)
        #expect(operation.milliseconds.p90 > 300)
        #expect(operation.histogram.counts.reduce(0, +) == 400, "\(outcome.output)")
    }

    @Test
    func `a client that stands still itself leaves out nobody who was due`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let process = try load.begin(
            ["fetch", "--rate", "50", "--arrivals", "uniform", "--duration", "3"] + Self.small
        )
        try await LoadTestProcess.hear("\n1 s  ", from: process)
        // Beyond the end of the measured time.
        process.signal(SIGSTOP)
        try await Task.sleep(for: .seconds(3))
        process.signal(SIGCONT)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let operation = try #require(try load.result().operations["fetch"])
        #expect(operation.histogram.counts.reduce(0, +) == 150, "\(outcome.output)")
        #expect(operation.milliseconds.max > 900)
    }

    @Test
    func `the table, the live line and the server's figures are there for people`() async throws {
        let load = try await LoadTestProcess.start()
        let outcome = try await load.begin(["save", "--duration", "3"] + Self.small).outcome()
        #expect(outcome.exitCode == 0)
        #expect(outcome.output.contains(/p50 ms +p90 ms +p99 ms +p99.9 ms +max ms\nsave +[0-9,]+/))
        #expect(outcome.output.contains(/server: [0-9,]+ commits with an fsync each/))
        #expect(outcome.errors.contains(/\n1 s  [0-9,]+\/s  p50 [0-9.]+ ms  p99 [0-9.]+ ms  failed 0/))
        let result = try load.result()
        #expect(result.version == 1)
        let server = try #require(result.server)
        #expect(server.commits > 0)
        #expect(server.recordsPerCommit > 0)
    }

    @Test
    func `a run leaves nothing behind, unless it is told to`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        _ = try await load.begin(["save", "--duration", "0.5", "--keep"] + Self.small).outcome()
        let kept = try await load.server.administer(["usage", "--container", LoadTestProcess.container])
        #expect(kept.contains(/load0 development +641\b/), "\(kept)")
        _ = try await load.begin(["save", "--duration", "0.5"] + Self.small).outcome()
        let usage = try await load.server.administer(["usage", "--container", LoadTestProcess.container])
        #expect(usage.contains(/load0 development +1\b/), "\(usage)")
    }

    @Test
    func `saves that find no record to write become fetches, and the run says so`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let few = ["--batch", "40", "--connections", "1", "--records", "160", "--outstanding", "32"]
        let outcome = try await load.begin(["save-batch", "--duration", "0.5"] + few).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let result = try load.result()
        #expect(result.replaced > 0)
        let fetches = try #require(result.operations["fetch"])
        #expect(abs(fetches.answers - result.replaced) <= 32, "\(outcome.output)")
        #expect(outcome.output.contains("requests became fetches, because all records that they could write"))
    }

    @Test
    func `a ramp finds a rate that holds, and one that does not`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let outcome = try await load.begin(
            ["fetch", "--ramp", "--rate", "50", "--p99", "1500", "--duration", "0.5", "--outstanding", "1"]
                + Self.small
        ).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains(/the highest rate that held: [0-9,]+ per second/))
        #expect(outcome.output.contains(" held\n") && outcome.output.contains("too much\n"))
        let result = try load.result()
        #expect((result.highestRate ?? 0) > 0)
    }

    @Test
    func `two processes join one run, and one of them tells of both`() async throws {
        let load = try await LoadTestProcess.start(users: 2)
        let arguments =
            ["mix", "--verify", "--duration", "2", "--processes", "2", "--run", "both", "--rate", "200"]
            + Self.small
        let paths = [0, 1].map { load.server.folder.path + "/result-\($0).json" }
        let processes = try paths.map { try load.begin(arguments, json: $0) }
        var outcomes: [ChildProcess.Outcome] = []
        for process in processes { outcomes.append(await process.outcome()) }
        for outcome in outcomes { #expect(outcome.exitCode == 0, "\(outcome.errors)") }
        let results = paths.filter { FileManager.default.fileExists(atPath: $0) }
        let path = try #require(results.first)
        let result = try load.result(path)
        #expect(results.count == 1)
        #expect(outcomes.count { $0.errors.contains("the first process has the result") } == 1)
        #expect((result.verification?.records ?? 0) >= 1_280)
        let due = result.operations.values.flatMap(\.histogram.counts).reduce(0, +)
        #expect(due > 300, "half of it would be 200: \(outcomes.map(\.output))")
        // No record of the run is left, so the same name can be used again.
        let third = try await load.begin(arguments + ["--timeout", "1", "--duration", "0.1"]).outcome()
        #expect(third.exitCode == 69)
        #expect(third.errors.contains("are all 2 running"))
    }

    @Test(arguments: [
        ["save", "--ramp"], ["save", "--run", "a b"], ["nonsense"], ["save", "--rate", "0"],
        ["save", "--connections", "0"],
        ["save", "--records", "10"], ["save", "--weights", "x"], ["mix", "--weights", "/no/such/file"],
        ["save", "--distribution", "normal"], ["save", "--duration", "-1"], ["save", "--batch", "401"],
    ])
    func `what cannot be meant is refused with advice`(arguments: [String]) async throws {
        let outcome = try await ChildProcess.run(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-load"),
            arguments
        )
        #expect(outcome.exitCode == 64)
        #expect(outcome.errors.contains("Error: ") && outcome.errors.count > 40)
    }

    @Test
    func `the script starts a server, kills it when it is told to, and leaves nothing behind`() async throws {
        let folder = try TemporaryDirectory()
        let repository = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let outcome = try await ChildProcess.run(
            repository.appendingPathComponent("Scripts/load"),
            ["save", "--duration", "3", "--verify", "--chaos", "kill-server", "--chaos-interval", "1.5"]
                + Self.small,
            environment: [
                "TIDEMARK_BIN": ChildProcess.buildFolder.path, "TIDEMARK_LOAD_DATA": folder.path,
                "TIDEMARK_LOAD_USERS": "2",
            ]
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("none lost, duplicated or stale"))
        #expect(outcome.output.contains(/chaos: the command ran \d times/))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test
    func `a row of the comparison is measured when its data are there, and not otherwise`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let early = try await load.run("bench", "query-sorted", "--duration", "0.2")
        #expect(early.exitCode == 70)
        #expect(early.errors.contains("--prepare"), "\(early.errors)")
        let prepared = try await load.run("bench", "--prepare", "watched")
        #expect(prepared.exitCode == 0, "\(prepared.errors)")
        for (row, connections) in [("push-latency", 1), ("fan-out", 4)] {
            let outcome = try await load.run(
                "bench",
                row,
                "--connections",
                "\(connections)",
                "--duration",
                "0.5"
            )
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("\(row): "))
            let report = try load.benchReport()
            #expect(report.row == row)
            #expect(report.ratePerSecond > 0)
            #expect(report.requests > 0)
            #expect((report.answerMilliseconds != nil) == (row == "push-latency"))
            #expect((report.messageBytes ?? 0 > 0) == (row == "fan-out"))
        }
        let both = try await load.run("bench", "fan-out", "--prepare", "watched")
        #expect(both.exitCode == 64)
    }

    @Test
    func `a server that is not there is told`() async throws {
        let outcome = try await ChildProcess.run(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-load"),
            ["save", "--url", "tidemark://127.0.0.1:1", "--container", "iCloud.x", "--token", "x"]
        )
        #expect(outcome.exitCode == 69)
        #expect(outcome.errors.contains("Cannot connect to 127.0.0.1:1"))
    }
}
