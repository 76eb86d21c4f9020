import CloudKit
import Foundation
import RecordClient
import RecordModel

// Rows about the SDK.
extension BenchCommand {
    /// As many operations at a time as the driver has connections, all over one connection.
    func sampleSDK(
        _ row: BenchRow,
        _ target: Target,
        _ client: RecordClient
    ) async throws -> ClosedLoop.Samples {
        let tokens = row == .sdkChanges ? try await Changes.tokens(client) : []
        let database = SDKLoop.database(of: target)
        let start = ContinuousClock.now + .seconds(self.warmUp)
        let period = start..<start + .seconds(self.duration)
        return try await withThrowingTaskGroup(of: ClosedLoop.Samples.self) { group in
            for number in 0..<self.connections {
                let choices = SDKChoices(loop: number, seed: self.seed, tokens: tokens)
                let loop = SDKLoop(row, database: database, choices: choices, period: period)
                group.addTask { try await loop.run() }
            }
            return try await group.reduce(into: ClosedLoop.Samples()) { $0.add($1) }
        }
    }

    /// Moves a whole zone once, however long that takes.
    func measureTransfer(_ row: BenchRow, _ target: Target) async throws -> BenchReport {
        let transfer = SDKTransfer(
            database: SDKLoop.database(of: target),
            recordCount: Changes.recordCount,
            pendingMax: Changes.recordCount
        )
        let loaded = CKRecordZone.ID(zoneName: Changes.zone.zoneName)
        let cpu = Self.cpuSeconds
        let start = ContinuousClock.now
        switch row {
        case .zoneFetch: try await transfer.fetch(loaded)
        case .engineFetch: try await transfer.fetchByEngine(loaded)
        case .zoneSave: try await transfer.save(in: Self.newZone())
        default: try await transfer.saveByEngine(in: Self.newZone())
        }
        let seconds = (ContinuousClock.now - start).seconds
        let used = Self.cpuSeconds - cpu
        var samples = ClosedLoop.Samples()
        samples.requestsAll = max(transfer.recordCount / row.itemsPerAnswer, 1)
        var report = BenchReport(samples, row, seconds: self.duration)
        report.requests = samples.requestsAll
        report.ratePerSecond = Double(samples.requestsAll) / seconds
        report.clientCPUSeconds = used
        report.peakMiB = try Self.peakMiB()
        return report
    }

    /// Sends records by an engine and fetches them by another one, and then ten times as many.
    ///
    /// The program has few changes pending at a time: a list of all is its own memory. The engines
    /// keep ledgers, as they do for apps.
    func measureEngineMemory(_ target: Target) async throws -> BenchReport {
        let folder = self.folder + "/ledgers-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = SDKLoop.database(of: target, ledgerFolder: folder)
        var peaks: [Double] = []
        for recordCount in [100_000 / Dataset.divisor, 1_000_000 / Dataset.divisor] {
            let transfer = SDKTransfer(database: database, recordCount: recordCount, pendingMax: 10_000)
            let zone = Self.newZone()
            try await transfer.saveByEngine(in: zone)
            try await transfer.fetchByEngine(zone)
            peaks.append(try Self.peakMiB())
        }
        var report = BenchReport(ClosedLoop.Samples(), .engineMemory, seconds: self.duration)
        report.peakMiB = peaks[1]
        report.peakRatio = peaks[1] / peaks[0]
        return report
    }

    private static func newZone() -> CKRecordZone.ID { CKRecordZone.ID(zoneName: "sent-\(UUID())") }

    private static func peakMiB() throws(LoadFailure) -> Double {
        Double(try self.kib("VmHWM", of: "self")) / 1_024
    }
}
