import Foundation
import RecordServer
import StorageContract
import TestSupport
import Testing
import WireProtocol

@testable import tidemark

/// What `metrics_file` is filled with.
@Suite(.timeLimit(.minutes(10)))
struct MetricsFileTests {
    private static let written = "tidemark_metrics_written_timestamp_seconds"

    private func read(_ path: String) throws -> ExpositionGrammar {
        ExpositionGrammar(try String(contentsOfFile: path, encoding: .utf8))
    }

    @Test
    func `metrics are written as Prometheus reads them`() {
        var durations = DurationCounts()
        for nanoseconds in [50_000, 100_000, 2_000_000, 20_000_000_000] as [Int64] {
            durations.add(nanoseconds: nanoseconds)
        }
        let text = Exposition.text(of: [
            Metric(.requestDuration, samples: [.init(labels: [("a", "x")], value: .durations(durations))]),
            Metric(.buildInfo, samples: [.init(labels: [("a", "\\\"\n"), ("b", "")], value: .number(1))]),
            Metric(.processCPU, 2.5), Metric(.connectionsOpened, 3),
        ])
        #expect(
            text == """
                # HELP tidemark_connections_opened_total Connections that were accepted.
                # TYPE tidemark_connections_opened_total counter
                tidemark_connections_opened_total 3
                # HELP tidemark_request_duration_seconds Time from a request's arrival to the end of its response, by operation.
                # TYPE tidemark_request_duration_seconds histogram
                tidemark_request_duration_seconds_bucket{a="x",le="0.0001"} 2
                tidemark_request_duration_seconds_bucket{a="x",le="0.00025"} 2
                tidemark_request_duration_seconds_bucket{a="x",le="0.0005"} 2
                tidemark_request_duration_seconds_bucket{a="x",le="0.001"} 2
                tidemark_request_duration_seconds_bucket{a="x",le="0.0025"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="0.005"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="0.01"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="0.025"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="0.05"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="0.1"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="0.25"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="0.5"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="1"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="2.5"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="10"} 3
                tidemark_request_duration_seconds_bucket{a="x",le="+Inf"} 4
                tidemark_request_duration_seconds_sum{a="x"} 20.00215
                tidemark_request_duration_seconds_count{a="x"} 4
                # HELP tidemark_build_info Always 1; the labels describe the program.
                # TYPE tidemark_build_info gauge
                tidemark_build_info{a="\\\\\\"\\n",b=""} 1
                # HELP process_cpu_seconds_total Processor time that the server has used.
                # TYPE process_cpu_seconds_total counter
                process_cpu_seconds_total 2.5

                """
        )
        #expect(ExpositionGrammar(text).faults == [])
    }

    @Test(
        arguments: [
            "a 1", "# TYPE a gauge\na 1\n", "# HELP a b\n# TYPE a gauge\na{b=c} 1\n",
            "# HELP a b\n# TYPE a gauge\na 1\na 1\n", "# HELP a b\n# TYPE a count\na 1\n",
            "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
        ]
    )
    func `the grammar of these tests sees what is wrong`(text: String) {
        #expect(ExpositionGrammar(text).faults != [])
    }

    @Test
    func
        `a server writes all of its metrics from its start on, for other users too, and leaves no other file`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/metrics.prom"
        // No lines in the log are no reason for no file.
        let server = try await ServerUnderTest.start(
            data: folder.path + "/data",
            "--metrics-interval",
            "0",
            "--set",
            "metrics_file_interval_s=1",
            "--metrics-file",
            file
        )
        let first = try self.read(file)
        #expect(first.faults == [])
        #expect(Set(first.families.keys) == Set(MetricName.allCases.map(\.rawValue)))
        for name in MetricName.allCases {
            #expect(first.families[name.rawValue]?.type == name.kind.rawValue)
            #expect(first.families[name.rawValue]?.help == name.help)
        }
        #expect(first.value(#"tidemark_failures_total{code="unknown_item"}"#) == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        let time = try #require(first.value(Self.written))
        while try self.read(file).value(Self.written) == time {
            try await Task.sleep(for: .milliseconds(50))
        }
        server.process.signal(SIGTERM)
        let outcome = await server.process.outcome()
        #expect(outcome.exitCode == 0)
        #expect(!outcome.errors.contains(" metrics "))
        let others = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(others == ["data", "metrics.prom"])
    }

    @Test
    func `the last metrics of a server count what it did while it stopped`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/metrics.prom"
        let data = folder.path + "/data"
        let server = try await ServerUnderTest.start(
            data: data,
            "--set",
            "metrics_file_interval_s=86400",
            "--metrics-file",
            file
        )
        let commits = try #require(try self.read(file).value("tidemark_commits_total"))
        let peer = try await RawPeer.connect(port: server.port, authorityFile: server.authorityPath)
        await peer.send([UInt8](repeating: 0xFF, count: 16))
        #expect(try await peer.closeReason() == .frameTooLarge)
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
        let last = try self.read(file)
        #expect(last.faults == [])
        #expect(last.value("tidemark_connections_opened_total") == 1)
        #expect(try #require(last.value("tidemark_commits_total")) >= commits)
    }

    @Test
    func `a file that cannot be written is told at the start`() async throws {
        let folder = try TemporaryDirectory()
        let outcome = try await ChildProcess.tidemark(
            "serve",
            "--data",
            folder.path + "/data",
            "--listen",
            "127.0.0.1:0",
            "--metrics-file",
            folder.path + "/no/such/folder"
        )
        #expect(outcome.exitCode == 73)
        #expect(outcome.errors.contains("the metrics cannot be written to"))
        #expect(outcome.errors.contains("No such file or directory"))
    }

    @Test
    func `the log says what was counted since the last line, and nothing when nothing was`() {
        var durations = DurationCounts()
        durations.add(nanoseconds: 20_000_000_000)
        func metrics(_ saves: Int, _ durations: DurationCounts, open: Int) -> [Metric] {
            [
                Metric(
                    .requests,
                    samples: [
                        .init(labels: [("operation", "modify_records")], value: .number(Double(saves))),
                        .init(labels: [("operation", "listen")], value: .number(4)),
                    ]
                ),
                Metric(
                    .requestDuration,
                    samples: [
                        .init(labels: [("operation", "modify_records")], value: .durations(durations))
                    ]
                ),
                Metric(.connectionsOpen, open), Metric(.listeners, 0),
            ]
        }
        let before = metrics(3, durations, open: 2)
        for _ in 0..<99 { durations.add(nanoseconds: 2_000_000) }
        durations.add(nanoseconds: 30_000_000)
        let after = metrics(103, durations, open: 5)
        #expect(
            MetricsDifference(from: before, to: after).metadata.mapValues { "\($0)" } == [
                "requests.modify_records": "100", "request_duration_seconds.modify_records.p99": "0.0025",
                "connections_open": "5",
            ]
        )
        #expect(MetricsDifference(from: before, to: metrics(3, DurationCounts(), open: 7)).metadata.isEmpty)
    }

    @Test
    func `the operators' guide has a row for each metric, as the code has it`() throws {
        let guide = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Sources/tidemark/METRICS.md"),
            encoding: .utf8
        )
        var rows: [String: [String]] = [:]
        for line in guide.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let name = cells[0].trimmingCharacters(in: ["`"])
            if name.hasPrefix("tidemark_") || name.hasPrefix("process_") { rows[name] = cells }
        }
        #expect(Set(rows.keys) == Set(MetricName.allCases.map(\.rawValue)))
        for name in MetricName.allCases {
            let cells = try #require(rows[name.rawValue])
            #expect(cells.count == 5)
            #expect(cells[1] == name.kind.rawValue, "\(name.rawValue)")
            #expect(cells[4] + "." == name.help, "\(name.rawValue)")
        }
    }
}
