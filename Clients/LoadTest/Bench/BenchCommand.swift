import ArgumentParser
import Foundation
import RecordClient
import RecordModel
import WireProtocol

/// One row of the comparison with other stores: the same data each time, and connections with one
/// request at a time.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure one row of the comparison with other stores.",
        discussion: """
            Each connection sends its next request when it has the response to the last. A
            response with an unexpected number of records ends the run. Scripts/bench
            prepares all data sets, and measures all rows in turn with their peers. A row by
            itself needs its data set first:

              tidemark-load bench --prepare books --connections 16
              tidemark-load bench query-sorted --connections 16 --json row.json

            The zones are kept. Rows about files read them from --folder, and leave small
            downloaded ones there.

            Rows about notifications may listen at another server of the same store:

              tidemark-load bench push-latency --listeners-url tidemark://two.example.org

            follow-rate measures one rate of saves; reconnect-storm says "listening" when
            the server is to be restarted; the rows of a sync engine show the memory of
            this program:

              tidemark-load bench follow-rate --connections 1000 --rate 40
              tidemark-load bench reconnect-storm --connections 5000 --json storm.json
              tidemark-load bench sdk-engine-fetch
            """
    )

    @Argument(help: ArgumentHelp("The row to measure.", valueName: "row"))
    var row: BenchRow?

    @OptionGroup(title: "Connection")
    var connection: LoadConnectionOptions

    @Option(help: ArgumentHelp("Prepare a data set for rows, instead of measuring one.", valueName: "data"))
    var prepare: Dataset?

    @Option(
        help: ArgumentHelp(
            "With --prepare shared-zones: access tokens of the participants, one per line.",
            valueName: "file"
        )
    )
    var participants: String?

    @Option(help: "Connections.")
    var connections = 1

    @Option(
        name: .customLong("listeners-url"),
        help: ArgumentHelp(
            "The server at which connections listen, if it is another one than --url.",
            valueName: "url"
        )
    )
    var listenersURL: String?

    @Option(
        name: .customLong("listeners-ca"),
        help: ArgumentHelp(
            "The authority of that server's certificate, if it has another one.",
            valueName: "file"
        )
    )
    var listenersCA: String?

    @Option(help: ArgumentHelp("Length of the measurement in seconds.", valueName: "seconds"))
    var duration = 3.0

    @Option(help: ArgumentHelp("Length of the warm-up in seconds.", valueName: "seconds"))
    var warmUp = 0.3

    @Option(help: ArgumentHelp("Saves per second of follow-rate.", valueName: "per second"))
    var rate: Double?

    @Option(help: "Seed of the keys.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("The folder in which files are read and written.", valueName: "folder"))
    var folder = "/var/tmp"

    @Option(
        help: ArgumentHelp("Process ID of the server, whose memory idle-listeners reads.", valueName: "pid")
    )
    var server: Int?

    @Option(help: ArgumentHelp("Write the full report as JSON.", valueName: "file"))
    var json: String?

    mutating func validate() throws {
        try LoadOptions.check(self.connections, 1...20_000, "--connections")
        try LoadOptions.check(self.duration, 0.1...1_000_000, "--duration")
        try LoadOptions.check(self.warmUp, 0...1_000_000, "--warm-up")
        guard (self.prepare == nil) != (self.row == nil) else {
            let rows = BenchRow.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("Name a row, or a data set to --prepare. Rows: \(rows).")
        }
        guard self.participants == nil || self.prepare == .sharedZones else {
            throw ValidationError("--participants are for --prepare shared-zones.")
        }
        guard self.listenersURL == nil || self.row?.hasListeners == true else {
            throw ValidationError("--listeners-url is for rows with listeners.")
        }
        guard self.listenersCA == nil || self.listenersURL != nil else {
            throw ValidationError("--listeners-ca needs --listeners-url.")
        }
        guard (self.row == .followRate) == (self.rate != nil) else {
            throw ValidationError("--rate is for follow-rate, which needs it.")
        }
        if let rate { try LoadOptions.check(rate, 0.1...1_000_000, "--rate") }
        if let schedule, !(1...Following.recordCount).contains(schedule.count) {
            throw ValidationError(
                "follow-rate makes 1 to \(Following.recordCount) saves: use another --rate or --duration."
            )
        }
        guard ![.batchOwnZone, .sdkSave].contains(self.row) || self.connections <= Items.ownZones else {
            throw ValidationError("There are \(Items.ownZones) own zones: use fewer --connections.")
        }
    }

    func run() async throws {
        do {
            try await self.runRow()
        } catch let error as ClientError {
            throw LoadFailure(error, to: Self.purpose)
        } catch let failure as Failure {
            throw LoadFailure(.refused(failure), to: Self.purpose)
        }
    }

    private static let purpose = "do that (are the data of the row prepared, with --prepare?)"

    private func runRow() async throws {
        let file = try self.json.map { path throws(LoadFailure) in try OutputFile(path) }
        do {
            try await self.runRow(file)
        } catch {
            file?.discard()
            throw error
        }
    }

    private func runRow(_ file: OutputFile?) async throws {
        let target = try self.connection.target()
        let memoryBefore = try self.serverMemory()
        let isOfSDK = self.row?.isOfSDK ?? false
        let listeners = try self.listenersTarget() ?? target
        let clients = (0..<(isOfSDK ? 1 : self.connections)).map { self.client($0, of: listeners) }
        try await Self.connect(clients)
        if let prepare { try await self.prepare(prepare, target, clients) }
        if let row {
            let report = try await self.measure(row, target, clients, memoryBefore: memoryBefore)
            try self.present(report, file)
        }
        for client in clients { await client.shutdown() }
    }

    /// The server at which the connections of a row listen; `nil` for the one that saves.
    private func listenersTarget() throws(LoadFailure) -> Target? {
        guard let listenersURL else { return nil }
        var connection = self.connection
        connection.url = listenersURL
        connection.ca = self.listenersCA ?? connection.ca
        return try connection.target()
    }

    private func prepare(_ data: Dataset, _ target: Target, _ clients: [RecordClient]) async throws {
        try await data.load(clients, folder: self.folder)
        if let participants {
            try await SharedZones.share(by: clients[0], withTokensIn: participants) { token in
                var target = target
                target.tokens = [token]
                return self.client(0, of: target)
            }
        }
    }

    private func measure(
        _ row: BenchRow,
        _ target: Target,
        _ clients: [RecordClient],
        memoryBefore: Int
    ) async throws -> BenchReport {
        switch row {
        case .assetUpload: try await self.measureFiles(.large, isUpload: true, row, clients)
        case .assetDownload: try await self.measureFiles(.large, isUpload: false, row, clients)
        case .assetSmallUpload: try await self.measureFiles(.small, isUpload: true, row, clients)
        case .assetSmallDownload: try await self.measureFiles(.small, isUpload: false, row, clients)
        case .besideFetch, .besideSave: try await self.measureBeside(row, clients[0])
        case .pushLatency:
            try await self.beside(clients, target) { try await self.measureLatency($0, of: clients) }
        case .fanOut: try await self.beside(clients, target) { try await self.measureFanOut($0, to: clients) }
        case .idleListeners:
            try await self.beside(clients, target) { writer in
                try await self.measureIdle(writer, clients, memoryBefore: memoryBefore)
            }
        case .followRate:
            try await self.beside(clients, target) { try await self.measureFollowing($0, clients) }
        case .reconnectStorm:
            try await self.beside(clients, target) { try await self.measureStorm($0, clients) }
        case .sdkFetch, .sdkQuery, .sdkChanges, .sdkSave:
            BenchReport(try await self.sampleSDK(row, target, clients[0]), row, seconds: self.duration)
        case .engineFetch, .zoneFetch, .engineSend, .zoneSave: try await self.measureTransfer(row, target)
        case .engineMemory: try await self.measureEngineMemory(target)
        default:
            BenchReport(
                try await self.sample(row, clients),
                row,
                seconds: self.duration,
                connections: clients.count
            )
        }
    }

    private static let connectingAtOnce = 32

    /// Connects a few at a time.
    ///
    /// Ten thousand at once would exceed the timeout of their handshakes.
    private static func connect(_ clients: [RecordClient]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                if number >= self.connectingAtOnce { try await group.next() }
                group.addTask { _ = try await client.welcome(timeout: .seconds(10)) }
            }
            try await group.waitForAll()
        }
    }

    /// One more connection, which makes the saves that the others listen to.
    private func beside(
        _ listeners: [RecordClient],
        _ target: Target,
        _ body: (RecordClient) async throws -> BenchReport
    ) async throws -> BenchReport {
        let writer = self.client(listeners.count, of: target)
        let report = try await body(writer)
        await writer.shutdown()
        return report
    }

    /// All clients are of the first user.
    ///
    /// Each has its own installation, because acknowledgements are stored per installation.
    private func client(_ number: Int, of target: Target) -> RecordClient {
        target.client(user: 0, installation: UInt64(number + 1))
    }

    private func present(_ report: BenchReport, _ file: OutputFile?) throws {
        print(PrintedText.lines(report.text))
        try file?.write(report.data())
    }

    func sample(_ row: BenchRow, _ clients: [RecordClient]) async throws -> ClosedLoop.Samples {
        let tokens = row == .changePage ? try await Changes.tokens(clients[0]) : []
        let start = ContinuousClock.now + .seconds(self.warmUp)
        let period = start..<start + .seconds(self.duration)
        return try await withThrowingTaskGroup(of: ClosedLoop.Samples.self) { group in
            for (number, client) in clients.enumerated() {
                let requests = Requests(row: row, connection: number, seed: self.seed, tokens: tokens)
                let loop = ClosedLoop(client: client, requests: requests, period: period)
                group.addTask { try await loop.run() }
            }
            return try await group.reduce(into: ClosedLoop.Samples()) { $0.add($1) }
        }
    }
}

extension Dataset: ExpressibleByArgument {}
extension BenchRow: ExpressibleByArgument {}
