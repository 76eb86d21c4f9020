/// The range of `--ramp`.
struct Ramp: Sendable {
    let firstRate: Double
    let p99MillisecondsMax: Double

    /// Decides whether a rate held: p99 within the bound, no failures, and at most one request in a
    /// hundred left over.
    func judge(_ result: LoadResult, at rate: Double) -> LoadResult.RampStep {
        let latencies = result.measurements.latencies
        let answered =
            Double(result.operations.reduce(0) { $0 + $1.figures.responsesInTime })
            / max(result.measuredSeconds, 0.001)
        let p99 = latencies.percentile(99)
        let failures = result.measurements.failureCount
        return LoadResult.RampStep(
            rate: rate,
            answered: answered,
            p50Milliseconds: latencies.percentile(50),
            p99Milliseconds: p99,
            failures: failures,
            held: p99 <= self.p99MillisecondsMax && failures == 0 && latencies.count > 0
                && result.measurements.unsent * 100 <= latencies.count
        )
    }
}
