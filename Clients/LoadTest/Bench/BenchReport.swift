import Foundation

/// What was measured of a row; `README.md` in the folder above says what each key means.
struct BenchReport: Encodable {
    let version = JSONReport.version
    let row: String
    var ratePerSecond: Double
    var requests: Int
    /// Those before and after the measurement included: what the processor time of the whole run is divided by.
    var requestsAll: Int
    /// Records that every answer had, or the number that it said.
    var rowsPerAnswer: Int
    var milliseconds: JSONReport.Milliseconds
    /// Of the saves' own answers; for `push-latency` only.
    var answerMilliseconds: JSONReport.Milliseconds?
    /// Of a notification's frame; for `fan-out` only.
    var messageBytes: Int?
    /// What each connection adds to the server's memory; for `idle-listeners` only.
    var memoryKiB: Double?
    /// Of what was measured, for runs that have to prepare it; absent: of the whole run.
    var clientCPUSeconds: Double?

    /// Of requests one behind the other on each connection.
    init(_ samples: ClosedLoop.Samples, _ row: BenchRow, seconds: Double, connections: Int = 1) {
        let latencies = samples.latencies
        let count = Double(latencies.count)
        self.row = row.rawValue
        if row.isLong {
            // Each connection was busy all the time: to count what ended within the period would be off by a whole one.
            let busySeconds = latencies.meanMilliseconds * count / 1_000
            self.ratePerSecond = Double(connections) * count / max(busySeconds, .leastNonzeroMagnitude)
        } else {
            self.ratePerSecond = count / seconds
        }
        self.requests = Int(latencies.count)
        self.requestsAll = samples.requestsAll
        self.rowsPerAnswer = row.itemsPerAnswer + Int(row.countPerAnswer)
        self.milliseconds = JSONReport.Milliseconds(latencies)
    }

    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }

    /// For people, in a line.
    var text: String {
        if let memoryKiB { return "\(self.row): \(Digits.milliseconds(memoryKiB)) KiB a connection" }
        var text = "\(self.row): \(Digits.rate(self.ratePerSecond)) a second"
        if self.milliseconds.max > 0 {
            text +=
                ", p50 \(Digits.milliseconds(self.milliseconds.p50)) ms, p99 \(Digits.milliseconds(self.milliseconds.p99)) ms"
        }
        return text
    }
}
