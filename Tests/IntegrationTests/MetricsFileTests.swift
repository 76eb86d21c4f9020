import Foundation
import Metrics
import TestSupport
import Testing

@testable import tidemark

/// What `metrics_file` is filled with.
@Suite(.timeLimit(.minutes(1)))
struct MetricsFileTests {
    @Test
    func `figures are written as Prometheus reads them`() {
        let metrics = MemoryMetrics()
        metrics.makeCounter(label: "b_total", dimensions: [("kind", "x")]).increment(by: 3)
        metrics.makeCounter(label: "b_total", dimensions: [("kind", "y")]).increment(by: 4)
        metrics.makeCounter(label: "never", dimensions: []).increment(by: 0)
        metrics.makeMeter(label: "a", dimensions: []).set(Double(2.5))
        let recorder = metrics.makeRecorder(label: "c", dimensions: [("k", "v")], aggregate: true)
        for value in [1, 1, 1, 1_000] { recorder.record(Int64(value)) }
        #expect(
            metrics.exposition() == """
                # TYPE a gauge
                a 2.5
                # TYPE b_total counter
                b_total{kind="x"} 3
                b_total{kind="y"} 4
                # TYPE c summary
                c{k="v",quantile="0.5"} 1
                c{k="v",quantile="0.99"} 1000
                c_sum{k="v"} 1003.0
                c_count{k="v"} 4

                """
        )
    }

    @Test
    func `a server writes its figures from its start on, again and again, and leaves no other file`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/metrics"
        let server = try await ServerUnderTest.start(
            data: folder.path + "/data",
            "--metrics-interval",
            "1",
            "--metrics-file",
            file
        )
        let first = try String(contentsOfFile: file, encoding: .utf8)
        #expect(first.contains("# TYPE tidemark_commits gauge\ntidemark_commits 0\n"))
        let time = try #require(first.firstMatch(of: /tidemark_metrics_written_seconds ([0-9.]+)\n/)).1
        var text = first
        while !text.contains("tidemark_metrics_written_seconds") || text.contains(time) {
            try await Task.sleep(for: .milliseconds(50))
            text = try String(contentsOfFile: file, encoding: .utf8)
        }
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
        let others = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(others == ["data", "metrics"])
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
        let none = try await ChildProcess.tidemark(
            "serve",
            "--metrics-file",
            folder.path + "/metrics",
            "--metrics-interval",
            "0"
        )
        #expect(none.exitCode == 64)
        #expect(none.errors.contains("metrics_interval_s"))
    }
}
