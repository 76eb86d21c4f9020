import ArgumentParser
import Foundation
import Testing

@testable import tidemark_load

/// What `--fail-if` takes, and when a run is beyond it.
@Suite
struct FailureBoundTests {
    /// A hundred responses of 1 to 100 ms in two seconds, and five failures.
    private static let result = ReportTests.result(
        "save",
        Mix(only: .save),
        ReportTests.outcome(.save, answers: 100, failures: 5)
    )

    @Test(
        arguments: [
            ("p99>20ms", true), ("p99>0.02s", true), ("p99 > 20000us", true), ("p99>20", true),
            ("p99>120ms", false), ("p50<10ms", false), ("p50<60ms", true), ("max>99ms", true),
            ("max>101ms", false), ("failed>0", true), ("failed>5", false), ("failed>4.5", true),
            ("failed>4%", true), ("failed>5%", false), ("failed<6", true), ("rate<51", true),
            ("rate<49", false), ("p99.9>99ms", true),
        ]
    )
    func `a run is beyond a bound, or not`(text: String, isBeyond: Bool) throws {
        let fault = try FailureBound(text).fault(in: Self.result)
        #expect((fault != nil) == isBeyond, "\(fault ?? "")")
        #expect(fault?.hasPrefix(text + ": ") ?? true)
    }

    @Test(arguments: ["", "p99", "p99>", "p98>20ms", "p99>20m", "p99=20", "failed>0ms", "rate<5/s", "p99>-1"])
    func `what is no bound is refused with the form`(text: String) {
        let error = #expect(throws: ValidationError.self) { try FailureBound(text) }
        #expect(error?.message.contains("'p99>20ms'") == true)
    }

    @Test
    func `a latency of nothing is beyond every bound`() throws {
        let nothing = ReportTests.result("save", Mix(only: .save), ReportTests.outcome(.save, answers: 0))
        #expect(try FailureBound("p99>20ms").fault(in: nothing) == "p99>20ms: there was no response")
        #expect(try FailureBound("failed>0").fault(in: nothing) == nil)
    }

    @Test
    func `several kinds of requests have a row of all together, and one kind has none`() {
        var mixed = Self.result
        mixed.measurements.add(ReportTests.outcome(.fetch, answers: 50, failures: 1).measurements)
        #expect(TextReport(result: mixed).text.contains(#/\nall +150 +75 +75 +6 /#))
        #expect(HTMLReport(result: mixed).text.contains("<td>all</td>"))
        #expect(!TextReport(result: Self.result).text.contains("\nall "))
    }

    @Test
    func `no form of a token is in the command of a report`() {
        let words = ["x", "mix", "--token", "s1", "--user-token", "s2", "--token=s3", "--user-token=s4"]
        let line = RunContext.line(words)
        #expect(line == "tidemark-load mix --token … --user-token … --token=… --user-token=…")
    }
}
