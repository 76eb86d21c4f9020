import Foundation
import RecordClient
import RecordModel
import Testing

@testable import tidemark_load

/// What the reports of a run say, made of figures that nobody measured.
@Suite
struct ReportTests {
    private static func plan(_ workload: String, _ mix: Mix) -> LoadPlan {
        LoadPlan(
            workload: workload,
            mix: mix,
            connections: 4,
            zones: 2,
            records: 1_000,
            recordBytes: 400,
            assetBytes: 65_536,
            batch: 100,
            page: 200,
            distribution: .uniform,
            rate: 600,
            arrivals: .poisson,
            underWayMax: 64,
            warmUpSeconds: 0,
            durationSeconds: 2,
            timeoutSeconds: 30,
            seed: 1,
            retries: false,
            verifies: true,
            chaos: nil,
            chaosIntervalSeconds: 10,
            run: "run",
            process: 0,
            processes: 1,
            keepsZones: false
        )
    }

    private static let target = Target(
        host: "db.example.org",
        port: 7_430,
        trust: .system,
        container: "iCloud.org.example.load",
        environment: .development,
        tokens: ["secret"]
    )

    /// Two seconds in which so many requests were answered, each a millisecond later than the one before.
    static func outcome(_ kind: Measured, answers: Int, failures: Int = 0) -> Stage.Outcome {
        let start = ContinuousClock.now
        let recorder = Recorder(period: start..<start + .seconds(2))
        for number in stride(from: 1, through: answers, by: 1) {
            let due = start + .milliseconds(number % 2 * 1_000)
            recorder.succeeded(kind, due: due, at: due + .milliseconds(number), records: 1)
        }
        for _ in 0..<failures { recorder.failed(kind, "code 7", at: start) }
        return Stage.Outcome(
            measurements: recorder.close(),
            seconds: 2,
            ended: start,
            loadEnded: start,
            server: nil
        )
    }

    static func result(_ workload: String, _ mix: Mix, _ outcome: Stage.Outcome) -> LoadResult {
        var context = RunContext(
            self.target,
            arguments: ["/usr/bin/tidemark-load", workload, "--token", "secret", "--chaos", "kill 'x'"]
        )
        context.server = "tidemark/1.2.3 (release)"
        return LoadResult(
            startedAt: Date(timeIntervalSince1970: 0),
            plan: self.plan(workload, mix),
            context: context,
            outcome
        )
    }

    @Test
    func `kinds of requests that nobody answered have a row of zeros`() {
        let result = Self.result("assets", Mix(only: .assets), Self.outcome(.upload, answers: 10))
        #expect(result.operations.map(\.kind) == [.upload, .download])
        #expect(TextReport(result: result).text.contains(/download +0 +0 +0 +0 +–/))
        let page = HTMLReport(result: result).text
        #expect(page.contains("<td>download</td><td data-name=\"answers\">0</td>"))
        // It has no pictures, which would be empty.
        #expect(page.components(separatedBy: "<figure>").count == 1 + 3)
        #expect(page.contains("upload: fewer than 100 responses, so p99 is the slowest"))
    }

    @Test
    func `the page of an overload has its parts, in figures, a table and pictures`() {
        let outcomes: [(OverloadTest.Part, Stage.Outcome)] = [
            (.usual, Self.outcome(.save, answers: 100)),
            (.overload, Self.outcome(.save, answers: 200, failures: 7_198)),
            (.afterwards, Self.outcome(.save, answers: 50)),
        ]
        var result = Self.result("save", Mix(only: .save), outcomes[1].1)
        var figures = OverloadFigures()
        for (part, outcome) in outcomes {
            figures.add(outcome)
            let partial = Self.result("save", Mix(only: .save), outcome)
            figures.steps.append(.init(part, rate: 600 * part.share, partial))
        }
        figures.recoverySeconds = 0.22
        result.overload = figures
        #expect(figures.seconds.count == 6 && figures.borders == [2, 4])
        let page = HTMLReport(result: result).text
        for text in [
            "<title>save, overload, 480, then 1,800, then 300 per second", "<td>usual</td>",
            "<td>afterwards</td>", "data-name=\"rejected\">7,198<", "<strong>0.22 s</strong>", " ×</strong>",
            ">usual</text>", "Requests of the overload, at 1,800 per second",
        ] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test
    func `the page of a ramp shows its steps, and names the step of its figures`() {
        var result = Self.result("save", Mix(only: .save), Self.outcome(.save, answers: 200))
        for (rate, held) in [(500.0, true), (1_000, false), (711, true)] {
            result.ramp.append(
                .init(
                    rate: rate,
                    answered: rate - 1,
                    p50Milliseconds: 1,
                    p99Milliseconds: held ? 10 : 60,
                    failures: 0,
                    held: held
                )
            )
        }
        let page = HTMLReport(result: result).text
        for text in [
            "<title>save, ramp, 500 to 1,000 per second", "<strong>711</strong>", "too much",
            "data-name=\"p99 ms\">60.0<",
            "Requests at 711 per second, the highest rate that held",
        ] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test
    func `the page says what was measured, and contains no token`() {
        let result = Self.result("mix", .defaults, Self.outcome(.save, answers: 200, failures: 2))
        let page = HTMLReport(result: result).text
        for text in [
            "tidemark/1.2.3 (release) at db.example.org:7430", "iCloud.org.example.load, development",
            "--token … --chaos 'kill '\\''x'\\'''", "40 fetch, 25 save", "1970-01-01 00:00:00 UTC",
            "1,000 of 400 bytes, each as likely as any other", "<strong>200</strong>", "failed, 0.99 %",
        ] {
            #expect(page.contains(HTMLText.escaped(text)) || page.contains(text), "\(text)")
        }
        #expect(!page.contains("secret"))
        #expect(!page.contains("keepsZones") && !page.contains("underWayMax"))
    }

    @Test
    func `all latencies of a page have one scale`() throws {
        var result = Self.result("mix", .defaults, Self.outcome(.save, answers: 5))
        let other = Self.outcome(.fetch, answers: 900)
        result.measurements.add(other.measurements)
        let page = HTMLReport(result: result).text
        let pictures = page.components(separatedBy: "<figcaption>").filter { $0.hasPrefix("Latency, ms") }
        let scales = pictures.map { picture in
            picture.matches(of: /text-anchor="end">([0-9.k]+)</).map { String($0.output.1) }
        }
        #expect(scales.count == 2)
        #expect(scales[0] == scales[1] && scales[0].contains("1") && scales[0].contains("1k"), "\(scales)")
    }

    @Test
    func `a metric is described in words`() {
        #expect(MetricName.words("tidemark_commits_total") == "commits")
        #expect(
            MetricName.words(#"tidemark_requests_total{operation="fetch_records",code="7"}"#)
                == "requests: fetch records, 7"
        )
    }

    @Test
    func `a bar says how much of the time is over`() {
        #expect(LiveLine.bar(-1, of: 10) == "[....................] warm-up")
        #expect(LiveLine.bar(5, of: 10) == "[##########..........] 5/10 s")
        #expect(LiveLine.bar(11, of: 10) == "[####################] 10/10 s")
    }
}
