import ArgumentParser
import Foundation
import RecordClient
import RecordModel

/// Drives one workload over as many connections as asked, each with one request at a time, and prints a report in JSON.
@main
struct LoadDriver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "tidemark-bench")

    @Option var host = "localhost"
    @Option var port: Int
    @Option(help: "File with the certificate authority.") var ca: String
    @Option var container: String
    @Option var token: String
    @Option var connections = 1
    @Option(help: "Fill the database.") var load: Dataset?
    @Option(help: "Measure.") var workload: Workload?
    @Option(help: "Length of the measurement.") var seconds = 3.0
    @Option(help: "Time before it that does not count.") var warmUpSeconds = 0.3
    @Option(help: "Seed of the keys.") var seed: UInt64 = 1
    @Option(help: "File with access tokens, one a line: who takes part in what --load shares.")
    var participants: String?
    @Option(help: "Where files are read and written.") var folder = "/var/tmp"
    @Option(help: "Process of the server, whose memory idle-listeners looks at.") var server: Int?

    func validate() throws {
        guard (1...10_000).contains(self.connections), self.seconds > 0, self.warmUpSeconds >= 0 else {
            throw ValidationError("at least one connection and some time")
        }
        guard (self.load == nil) != (self.workload == nil) else {
            throw ValidationError("either --load or --workload")
        }
        guard self.workload != .batchOwnZone || self.connections <= Items.ownZones else {
            throw ValidationError("there are \(Items.ownZones) zones to own")
        }
    }

    func run() async throws {
        let memoryBefore = try self.serverMemory()
        let clients = (0..<self.connections).map {
            RecordClient(configuration: self.clientConfiguration($0))
        }
        try await Self.connect(clients)
        try await self.load?.load(clients, folder: self.folder)
        if let participants {
            try await SharedZones.share(by: clients[0], withTokensIn: participants) { token in
                self.clientConfiguration(0, token: token)
            }
        }
        switch self.workload {
        case .assetUpload?: try await self.measureFiles(.large, isUpload: true, .assetUpload, clients)
        case .assetDownload?: try await self.measureFiles(.large, isUpload: false, .assetDownload, clients)
        case .assetSmallUpload?:
            try await self.measureFiles(.small, isUpload: true, .assetSmallUpload, clients)
        case .assetSmallDownload?:
            try await self.measureFiles(.small, isUpload: false, .assetSmallDownload, clients)
        case .besideFetch?: try await self.measureBeside(.besideFetch, clients[0])
        case .besideSave?: try await self.measureBeside(.besideSave, clients[0])
        case .pushLatency?: try await self.measureLatency(clients)
        case .fanOut?: try await self.measureFanOut(clients)
        case .idleListeners?: try await self.measureIdle(clients, memoryBefore: memoryBefore)
        case let workload?: try await self.measure(workload, clients)
        case nil: break
        }
        for client in clients { await client.shutdown() }
    }

    private static let connectingAtOnce = 32

    /// Some at a time: ten thousand at once would wait longer for their handshakes than they may.
    private static func connect(_ clients: [RecordClient]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                if number >= self.connectingAtOnce { try await group.next() }
                group.addTask { _ = try await client.welcome(timeout: .seconds(10)) }
            }
            try await group.waitForAll()
        }
    }

    private func clientConfiguration(_ number: Int, token: String? = nil) -> ClientConfiguration {
        var configuration = ClientConfiguration(
            host: self.host,
            port: self.port,
            trust: .authorities(file: self.ca),
            container: self.container,
            accessToken: token ?? self.token
        )
        // Another one for each: what a listener has acknowledged is kept for its installation.
        configuration.installationID = (0..<16).map {
            UInt8(truncatingIfNeeded: (number + 1) >> (8 * ($0 % 2)))
        }
        return configuration
    }

    private func measureLatency(_ listeners: [RecordClient]) async throws {
        let writer = RecordClient(configuration: self.clientConfiguration(listeners.count))
        let listening = Listening(writer: writer, listeners: listeners)
        let measured = try await listening.latencies(for: .seconds(self.seconds), seed: self.seed)
        await writer.shutdown()
        var samples = ClosedLoop.Samples()
        samples.microseconds = measured.arrivals
        samples.requestsAll = measured.arrivals.count
        var report = Report(samples, .pushLatency, seconds: self.seconds, connections: 1)
        report.answerP50Milliseconds = Report.percentile(0.5, of: measured.answers.sorted())
        report.answerP99Milliseconds = Report.percentile(0.99, of: measured.answers.sorted())
        try self.print(report)
    }

    private func measureFanOut(_ listeners: [RecordClient]) async throws {
        let writer = RecordClient(configuration: self.clientConfiguration(listeners.count))
        let listening = Listening(writer: writer, listeners: listeners)
        let deliveries = try await listening.deliveries(
            after: .seconds(self.warmUpSeconds),
            for: .seconds(self.seconds)
        )
        await writer.shutdown()
        var samples = ClosedLoop.Samples()
        samples.requestsAll = deliveries
        var report = Report(samples, .fanOut, seconds: self.seconds, connections: 1)
        report.rate = Double(deliveries) / self.seconds
        report.requests = deliveries
        report.messageBytes = listening.frameBytes
        try self.print(report)
    }

    private func measureIdle(_ listeners: [RecordClient], memoryBefore: Int) async throws {
        let writer = RecordClient(configuration: self.clientConfiguration(listeners.count))
        try await Listening(writer: writer, listeners: listeners).idle(for: .seconds(self.seconds))
        let grown = try self.serverMemory() - memoryBefore
        await writer.shutdown()
        var report = Report(
            ClosedLoop.Samples(),
            .idleListeners,
            seconds: self.seconds,
            connections: listeners.count
        )
        report.memoryKiB = Double(grown) / Double(listeners.count)
        try self.print(report)
    }

    /// KiB of the server that are in memory; 0: nobody asked.
    private func serverMemory() throws -> Int {
        guard let server else { return 0 }
        let status = try String(contentsOfFile: "/proc/\(server)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first,
            let kib = Int(number)
        else { throw CocoaError(.fileReadCorruptFile) }
        return kib
    }

    func print(_ report: Report) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        Swift.print(String(decoding: try encoder.encode(report), as: UTF8.self))
    }

    private func measure(_ workload: Workload, _ clients: [RecordClient]) async throws {
        let samples = try await self.sample(workload, clients)
        try self.print(Report(samples, workload, seconds: self.seconds, connections: clients.count))
    }

    func sample(_ workload: Workload, _ clients: [RecordClient]) async throws -> ClosedLoop.Samples {
        let tokens = workload == .changePage ? try await Changes.tokens(clients[0]) : []
        let start = ContinuousClock.now + .seconds(self.warmUpSeconds)
        let period = start..<start + .seconds(self.seconds)
        return try await withThrowingTaskGroup(of: ClosedLoop.Samples.self) { group in
            for (number, client) in clients.enumerated() {
                let requests = Requests(
                    workload: workload,
                    connection: number,
                    seed: self.seed,
                    tokens: tokens
                )
                let loop = ClosedLoop(client: client, requests: requests, period: period)
                group.addTask { try await loop.run() }
            }
            return try await group.reduce(into: ClosedLoop.Samples()) { $0.add($1) }
        }
    }
}

/// What a run prints.
struct Report: Encodable {
    var rate: Double
    var requests: Int
    /// Those before and after the measurement included: what the processor time of the whole run is divided by.
    var requestsAll: Int
    /// Records that every answer had, or the number that it said.
    var rowsPerAnswer: Int
    var p50Milliseconds: Double
    var p99Milliseconds: Double
    var maxMilliseconds: Double
    /// Of the saves' own answers; for `push-latency` only.
    var answerP50Milliseconds: Double?
    var answerP99Milliseconds: Double?
    /// Of a notification's frame; for `fan-out` only.
    var messageBytes: Int?
    /// What each connection adds to the server's memory; for `idle-listeners` only.
    var memoryKiB: Double?
    /// Of what was measured, for runs that have to prepare it; absent: of the whole run.
    var clientCPUSeconds: Double?

    init(_ samples: ClosedLoop.Samples, _ workload: Workload, seconds: Double, connections: Int) {
        let ordered = samples.microseconds.sorted()
        if workload.isLong {
            // Each connection was busy all the time: to count what ended within the period would be off by a whole one.
            let busySeconds = ordered.map { Double($0) }.reduce(0, +) / 1_000_000
            self.rate = Double(connections * ordered.count) / max(busySeconds, .leastNonzeroMagnitude)
        } else {
            self.rate = Double(ordered.count) / seconds
        }
        self.requests = ordered.count
        self.requestsAll = samples.requestsAll
        self.rowsPerAnswer = workload.itemsPerAnswer + Int(workload.countPerAnswer)
        self.p50Milliseconds = Self.percentile(0.5, of: ordered)
        self.p99Milliseconds = Self.percentile(0.99, of: ordered)
        self.maxMilliseconds = Self.percentile(1, of: ordered)
    }

    /// Milliseconds, of microseconds in ascending order.
    static func percentile(_ share: Double, of ordered: [UInt32]) -> Double {
        guard let last = ordered.indices.last else { return 0 }
        return Double(ordered[Int((Double(last) * share).rounded())]) / 1_000
    }
}
