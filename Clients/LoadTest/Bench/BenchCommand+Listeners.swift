import Foundation
import RecordClient

// Rows about listeners: all connections but one listen, and that one saves.
extension BenchCommand {
    func measureLatency(
        _ writer: RecordClient,
        of listeners: [RecordClient]
    ) async throws -> BenchReport {
        let listening = Listening(writer: writer, listeners: listeners)
        let measured = try await listening.latencies(for: .seconds(self.duration), seed: self.seed)
        var samples = ClosedLoop.Samples()
        samples.latencies = measured.arrivals
        samples.requestsAll = Int(measured.arrivals.count)
        var report = BenchReport(samples, .pushLatency, seconds: self.duration)
        report.answerMilliseconds = JSONReport.Milliseconds(measured.answers)
        return report
    }

    func measureFanOut(
        _ writer: RecordClient,
        to listeners: [RecordClient]
    ) async throws -> BenchReport {
        let listening = Listening(writer: writer, listeners: listeners)
        let deliveries = try await listening.deliveries(
            after: .seconds(self.warmUp),
            for: .seconds(self.duration)
        )
        var samples = ClosedLoop.Samples()
        samples.requestsAll = deliveries
        var report = BenchReport(samples, .fanOut, seconds: self.duration)
        report.ratePerSecond = Double(deliveries) / self.duration
        report.requests = deliveries
        report.messageBytes = listening.frameBytes
        return report
    }

    func measureIdle(
        _ writer: RecordClient,
        _ listeners: [RecordClient],
        memoryBefore: Int
    ) async throws -> BenchReport {
        try await Listening(writer: writer, listeners: listeners).idle(for: .seconds(self.duration))
        let grown = try self.serverMemory() - memoryBefore
        var report = BenchReport(ClosedLoop.Samples(), .idleListeners, seconds: self.duration)
        report.memoryKiB = Double(grown) / Double(listeners.count)
        return report
    }

    /// The saves of `follow-rate`; `nil` for other rows.
    var schedule: Following.Schedule? {
        self.rate.map { Following.Schedule(rate: $0, warmUp: self.warmUp, duration: self.duration) }
    }

    func measureFollowing(_ writer: RecordClient, _ listeners: [RecordClient]) async throws -> BenchReport {
        guard let schedule else { throw LoadFailure(.usage, "follow-rate needs a --rate") }
        let result = try await Following(writer: writer, listeners: listeners).follow(schedule)
        var report = self.report(result.latencies, .followRate)
        report.missing = result.missing
        return report
    }

    func measureStorm(_ writer: RecordClient, _ listeners: [RecordClient]) async throws -> BenchReport {
        let following = Following(writer: writer, listeners: listeners)
        let latencies = try await following.survive { LiveLine().say("listening") }
        return self.report(latencies, .reconnectStorm)
    }

    private func report(_ latencies: LatencyHistogram, _ row: BenchRow) -> BenchReport {
        var samples = ClosedLoop.Samples()
        samples.latencies = latencies
        samples.requestsAll = Int(latencies.count)
        return BenchReport(samples, row, seconds: self.duration)
    }

    /// The server's resident memory in KiB; 0 if it was not asked for.
    func serverMemory() throws(LoadFailure) -> Int {
        guard let server else { return 0 }
        return try Self.kib("VmRSS", of: "\(server)")
    }

    /// A figure of a process in KiB, as the kernel's `status` has it.
    static func kib(_ key: String, of process: String) throws(LoadFailure) -> Int {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix(key + ":") }
        guard let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first,
            let kib = Int(number)
        else {
            throw LoadFailure(.usage, "process \(process) (--server) cannot be read: does it run?")
        }
        return kib
    }
}
