import Foundation
import RecordClient
import RecordModel

// Rows about assets: each run moves all bytes once, or measures small requests beside large
// transfers.
extension BenchCommand {
    func measureFiles(
        _ files: Files,
        isUpload: Bool,
        _ row: BenchRow,
        _ clients: [RecordClient]
    ) async throws -> BenchReport {
        let source = try files.source(in: self.folder)
        let assets = try isUpload ? source.assets(seed: self.seed) : files.loaded(in: self.folder)
        let targets = try self.targetFolder(files)
        let cpu = Self.cpuSeconds
        let start = ContinuousClock.now
        if isUpload {
            try await files.upload(source, assets, seed: self.seed, clients)
        } else {
            try await files.download(assets, to: targets, clients)
        }
        let length = ContinuousClock.now - start
        let used = Self.cpuSeconds - cpu
        if !isUpload, files == .large { files.removeTargets(assets.count, from: targets) }
        let bytes = assets.reduce(0) { $0 + Int($1.size) }
        var samples = ClosedLoop.Samples()
        samples.requestsAll = files == .large ? max(bytes >> 20, 1) : assets.count
        var report = BenchReport(samples, row, seconds: self.duration)
        report.ratePerSecond = Double(samples.requestsAll) / (length / .seconds(1))
        report.requests = samples.requestsAll
        report.clientCPUSeconds = used
        return report
    }

    /// The folder for downloads.
    ///
    /// Many small ones get a new folder, and stay there.
    ///
    /// A file system without a journal checks each inode that was freed in the last minute before
    /// it allocates one. Deleting ten thousand files would slow down the next run.
    private func targetFolder(_ files: Files) throws(LoadFailure) -> String {
        guard files == .small else { return self.folder }
        var template = Array((self.folder + "/targets-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw LoadFailure(.cannotCreate, "cannot make a folder in \(self.folder): use another --folder")
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Measures small requests, one at a time, on a connection that moves large files both ways.
    func measureBeside(_ row: BenchRow, _ client: RecordClient) async throws -> BenchReport {
        let source = try Files.large.source(in: self.folder)
        let down = try Files.large.loaded(in: self.folder)
        let seeds = (1...Self.uploadsMax).map { self.seed &* 1_000 &+ $0 }
        let uploads = try seeds.map { try source.assets(seed: $0) }
        let folder = self.folder
        let samples = try await withThrowingTaskGroup(of: ClosedLoop.Samples?.self) { group in
            group.addTask {
                for (seed, assets) in zip(seeds, uploads) {
                    try await Files.large.upload(source, assets, seed: seed, [client])
                }
                return nil
            }
            group.addTask {
                while true { try await Files.large.download(down, to: folder, [client]) }
            }
            group.addTask {
                // Both transfers have begun.
                try await Task.sleep(for: .milliseconds(200))
                return try await self.sample(row, [client])
            }
            // If uploads ended first, the rest of the period would have none.
            guard let samples = try await group.next() ?? nil else {
                throw LoadFailure(
                    .failed,
                    "the uploads ended before the measurement did: use a shorter --duration"
                )
            }
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
            return samples
        }
        Files.large.removeTargets(down.count, from: self.folder)
        return BenchReport(samples, row, seconds: self.duration)
    }

    private static let uploadsMax: UInt64 = 4

    static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
