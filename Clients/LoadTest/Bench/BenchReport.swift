import Foundation

/// The measurements of a row.
///
/// `README.md` in the folder above defines each key.
struct BenchReport: Encodable {
    let version = JSONReport.version
    let row: String
    var ratePerSecond: Double
    var requests: Int
    /// All requests, also before and after the measurement.
    ///
    /// The processor time of the whole run is divided by it.
    var requestsAll: Int
    /// Records in every response, or the number in it.
    var rowsPerAnswer: Int
    var milliseconds: JSONReport.Milliseconds
    /// Latencies of the saves' own responses; for `push-latency` only.
    var answerMilliseconds: JSONReport.Milliseconds?
    /// Size of a notification's frame; for `fan-out` only.
    var messageBytes: Int?
    /// Server memory per connection; for `idle-listeners` only.
    var memoryKiB: Double?
    /// Memory of the program, in MiB at the most; of rows of a sync engine only.
    var peakMiB: Double?
    /// That after 1,000,000 records, relative to that after 100,000; for `sdk-engine-memory` only.
    var peakRatio: Double?
    /// Records that did not come to a listener; for `follow-rate` only.
    var missing: Int?
    /// Processor time of the measured part, for runs with a preparation.
    ///
    /// If absent, that of the whole run.
    var clientCPUSeconds: Double?

    /// For consecutive requests on each connection.
    init(_ samples: ClosedLoop.Samples, _ row: BenchRow, seconds: Double, connections: Int = 1) {
        let latencies = samples.latencies
        let count = Double(latencies.count)
        self.row = row.rawValue
        if row.isLong {
            // Each connection was busy all the time. A count of the requests that ended within the
            // period could be off by one each.
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

    /// One line for people.
    var text: String {
        if let memoryKiB { return "\(self.row): \(Digits.milliseconds(memoryKiB)) KiB per connection" }
        if let peakMiB, let peakRatio {
            return
                "\(self.row): \(Digits.milliseconds(peakMiB)) MiB, \(Digits.milliseconds(peakRatio)) times "
                + "those after a tenth of the records"
        }
        var text = "\(self.row): \(Digits.rate(self.ratePerSecond)) per second"
        if self.milliseconds.max > 0 {
            text +=
                ", p50 \(Digits.milliseconds(self.milliseconds.p50)) ms, p99 \(Digits.milliseconds(self.milliseconds.p99)) ms"
        }
        if let peakMiB { text += ", \(Digits.milliseconds(peakMiB)) MiB of this program at the most" }
        if let missing { text += ", \(Digits.count(missing)) records missing" }
        return text
    }
}
