import Foundation
import Testing

@testable import tidemark_load

@Suite
struct MeasurementTests {
    @Test
    func `percentiles are those of the latencies, within a thousandth`() {
        var histogram = LatencyHistogram()
        for milliseconds in 1...1_000 { histogram.record(.milliseconds(milliseconds)) }
        #expect(histogram.count == 1_000)
        for percent in [50.0, 90, 99, 99.9] {
            #expect(abs(histogram.percentile(percent) / (percent * 10) - 1) < 0.002)
        }
        #expect(abs(histogram.maxMilliseconds - 1_000) < 1)
        #expect(abs(histogram.meanMilliseconds - 500.5) < 1)
    }

    @Test
    func `a histogram survives its encoding, and two make one`() throws {
        var first = LatencyHistogram()
        var second = LatencyHistogram()
        for number in 0..<5_000 {
            first.record(.microseconds(number * number))
            second.record(.milliseconds(number))
        }
        let decoded = try JSONDecoder().decode(LatencyHistogram.self, from: JSONEncoder().encode(first))
        #expect(decoded.recorded.map(\.microseconds) == first.recorded.map(\.microseconds))
        #expect(decoded.recorded.map(\.count) == first.recorded.map(\.count))
        second.add(decoded)
        #expect(second.count == 10_000)
        #expect(second.maxMilliseconds > 24_000)
    }

    @Test
    func `a latency of more than an hour counts as an hour, and a negative one as none`() {
        var histogram = LatencyHistogram()
        histogram.record(.seconds(100_000))
        histogram.record(.seconds(-1))
        #expect(histogram.count == 2)
        #expect(abs(histogram.maxMilliseconds - 3_600_000) < 3_600)
    }

    @Test
    func `a latency counts from when the request was due, and only in the measured time`() throws {
        let start = ContinuousClock.now
        let recorder = Recorder(period: start..<start + .seconds(10))
        // Of the warm-up, though its answer comes later.
        recorder.succeeded(.save, due: start - .seconds(1), at: start + .seconds(1), records: 1)
        recorder.succeeded(.save, due: start + .seconds(1), at: start + .seconds(3), records: 1)
        // Due in time, and answered behind it: its latency counts, its answer is not of the rate.
        recorder.succeeded(.save, due: start + .seconds(9), at: start + .seconds(14), records: 1)
        recorder.failed(.save, "why", at: start + .seconds(2))
        recorder.failed(.save, "why", at: start - .seconds(2))
        recorder.unsent(.fetch, due: start + .seconds(4))
        recorder.replaced(due: start - .seconds(1))
        recorder.replaced(due: start + .seconds(1))
        let measurements = recorder.close()
        let saves = try #require(measurements.operations[.save])
        #expect(saves.latencies.count == 2)
        #expect(abs(saves.latencies.maxMilliseconds - 5_000) < 10)
        #expect(saves.responsesInTime == 2)
        #expect(saves.failures == ["why": 1])
        // What was due and never left has waited to the end.
        #expect(measurements.unsent == 1)
        #expect(measurements.replaced == 1)
        let fetches = try #require(measurements.operations[.fetch])
        #expect(abs(fetches.latencies.maxMilliseconds - 6_000) < 10)
        #expect(measurements.seconds.count == 15)
        #expect(measurements.seconds[3][.save]?.answers == 1)
        #expect(measurements.seconds[2][.save]?.failures == 1)
        #expect(measurements.seconds[14][.save]?.answers == 1)
    }

    @Test
    func `a second has its percentiles`() {
        var second = SecondFigures()
        for milliseconds in 1...100 { second.answered(.milliseconds(milliseconds)) }
        let percentiles = second.percentiles([50, 99, 100])
        #expect(abs(percentiles[0] / 50 - 1) < 0.02)
        #expect(abs(percentiles[1] / 99 - 1) < 0.02)
        #expect(percentiles[2] == 100)
        #expect(SecondFigures().percentiles([50, 99]) == [0, 0])
    }

    @Test
    func `measurements of two processes make one, and survive their encoding`() throws {
        let start = ContinuousClock.now
        let first = Recorder(period: start..<start + .seconds(3))
        let second = Recorder(period: start..<start + .seconds(3))
        first.succeeded(.save, due: start, at: start + .seconds(1), records: 1)
        second.succeeded(.save, due: start, at: start + .seconds(2), records: 1)
        second.succeeded(.saveBatch, due: start, at: start + .seconds(2), records: 100)
        var sum = first.close()
        let encoded = try JSONEncoder().encode(second.close())
        sum.add(try JSONDecoder().decode(Measurements.self, from: encoded))
        #expect(sum.operations[.save]?.responsesInTime == 2)
        #expect(sum.operations[.saveBatch]?.records == 100)
        #expect(sum.seconds.count == 3)
        #expect(sum.seconds[1][.save]?.answers == 1)
        #expect(sum.seconds[2][.saveBatch]?.answers == 1)
        #expect(sum.latencies.count == 3)
    }

    @Test
    func `a server's figures are differences, and continue after its restart`() {
        func sample(_ time: Int, _ commits: Int, waiting: Int) -> ServerSample {
            ServerSample(
                text: """
                    # TYPE tidemark_commits_total counter
                    tidemark_commits_total \(commits)
                    tidemark_records_written_total \(10 * commits)
                    tidemark_requests_total{operation="fetch_records"} \(commits)
                    tidemark_request_duration_seconds_bucket{operation="fetch_records",le="+Inf"} \(commits)
                    tidemark_requests_waiting \(waiting)
                    nonsense
                    tidemark_metrics_written_timestamp_seconds \(time)

                    """
            )
        }
        var figures = ServerFigures()
        figures.add(sample(100, 50, waiting: 9))
        figures.add(sample(101, 60, waiting: 4))
        // The same file again.
        figures.add(sample(101, 60, waiting: 4))
        // Killed, and counting from 0.
        figures.add(sample(104, 5, waiting: 0))
        #expect(figures.commits == 15)
        #expect(figures.seconds == 4)
        #expect(figures.recordsPerCommit == Double(100 + 50) / 15)
        #expect(figures.increases[#"tidemark_requests_total{operation="fetch_records"}"#] == 15)
        #expect(figures.increases.keys.allSatisfy { $0.contains("_total") })
        #expect(figures.levels["tidemark_requests_waiting"]?.max == 4)
        #expect(figures.levels["tidemark_requests_waiting"]?.mean == 2)
    }
}
