import Foundation
import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// Files as assets of records: one large one, or 10,000 small ones.
enum Files: String {
    case large
    case small

    static let zone = ZoneID(zoneName: "files")
    /// `TIDEMARK_BENCH_DIVISOR` makes both smaller, to try the program.
    private static let divisor =
        ProcessInfo.processInfo.environment["TIDEMARK_BENCH_DIVISOR"].flatMap { Int($0) } ?? 1
    static let largeBytes = 1_024 * 1_024 * 1_024 / divisor
    static let smallBytes = 10 * 1_024
    static let smallCount = 10_000 / divisor
    /// Parallel uploads or downloads of a connection, as in the SDK.
    static let parallelMax = 4
    private static let recordsPerSave = 100
    /// Seed of the assets that exist before a measurement.
    private static let loadSeed: UInt64 = 0
    /// Number of small records beside the large file.
    static let recordCount = 1_000

    /// Uploads the assets that exist before a measurement.
    ///
    /// Lists them in a file beside the source, for later runs.
    func load(in folder: String, _ clients: [RecordClient]) async throws {
        let source = try self.source(in: folder)
        let assets = try source.assets(seed: Self.loadSeed)
        try await self.upload(source, assets, seed: Self.loadSeed, clients)
        let hashes = assets.flatMap(\.sha256)
        try Data(hashes).write(to: self.loadedFile(in: folder))
    }

    /// The assets that `load` has uploaded.
    func loaded(in folder: String) throws -> [Asset] {
        let hashes = [UInt8](try Data(contentsOf: self.loadedFile(in: folder)))
        let size = Int64(self == .large ? Self.largeBytes : Self.smallBytes)
        return stride(from: 0, to: hashes.count, by: Asset.hashBytes).map {
            Asset(sha256: Array(hashes[$0..<$0 + Asset.hashBytes]), size: size)
        }
    }

    private func loadedFile(in folder: String) -> URL {
        URL(fileURLWithPath: folder + "/loaded-" + self.rawValue)
    }

    func source(in folder: String) throws -> SourceFile {
        try SourceFile(
            folder + "/source-" + self.rawValue,
            assetBytes: self == .large ? Self.largeBytes : Self.smallBytes,
            assetCount: self == .large ? 1 : Self.smallCount
        )
    }

    /// The records of a measurement replace none of those that existed before.
    func record(_ number: Int, seed: UInt64) -> RecordID {
        let kind = seed == Self.loadSeed ? "-" : "-new-"
        return RecordID(zone: Self.zone, recordName: self.rawValue + kind + String(number))
    }

    /// Uploads assets over all connections, and saves records that name them.
    ///
    /// - Durability: when it returns, all of it is on the server's disk.
    func upload(_ source: SourceFile, _ assets: [Asset], seed: UInt64, _ clients: [RecordClient]) async throws
    {
        try await Self.inParallel(assets.count, clients) { numbers, client in
            for start in stride(from: 0, to: numbers.count, by: Self.recordsPerSave) {
                let part = numbers[start..<min(start + Self.recordsPerSave, numbers.count)]
                for number in part {
                    let upload = AssetUpload(scope: .private, assets: [assets[number]]) {
                        _,
                        offset,
                        memory throws(FileFailure) in
                        try source.read(number, offset, memory, seed: seed)
                    }
                    try await client.upload(
                        upload,
                        requestTimeout: .seconds(60),
                        resourceTimeout: .seconds(600)
                    )
                }
                try await Dataset.perform(
                    Dataset.save(part.map { self.save($0, assets[$0], seed: seed) }),
                    client
                )
            }
        }
    }

    /// Downloads the assets of `load`, each to a file of its own, and compares hashes.
    func download(_ assets: [Asset], to folder: String, _ clients: [RecordClient]) async throws {
        try await Self.inParallel(assets.count, clients) { numbers, client in
            for number in numbers {
                let file = try TargetFile(
                    folder + "/target-" + self.rawValue + String(number),
                    assetBytes: assets[number].size
                )
                let download = AssetDownload(
                    scope: .private,
                    record: self.record(number, seed: Self.loadSeed),
                    parts: [AssetDownload.Part(assets[number], 0..<assets[number].size)]
                ) { _, offset, bytes throws(FileFailure) in
                    try file.write(bytes, at: offset)
                } digest: {
                    file.digest($1)
                }
                try await client.download(
                    download,
                    requestTimeout: .seconds(60),
                    resourceTimeout: .seconds(600)
                )
                guard file.holds(assets[number]) else {
                    throw LoadFailure(
                        .violated,
                        "file \(number) differs from what was uploaded"
                    )
                }
            }
        }
    }

    func removeTargets(_ count: Int, from folder: String) {
        for number in 0..<count { unlink(folder + "/target-" + self.rawValue + String(number)) }
    }

    /// A small record beside the files.
    static func neighbour(_ number: Int) -> RecordID {
        RecordID(zone: Self.zone, recordName: Dataset.scatteredName(number))
    }

    private func save(_ number: Int, _ asset: Asset, seed: UInt64) -> RecordSave {
        RecordSave(
            id: self.record(number, seed: seed),
            recordType: "File",
            changes: RecordBody([Field(name: "file", value: .asset(asset))])
        )
    }

    /// Distributes numbers over all connections, a few tasks each.
    private static func inParallel(
        _ count: Int,
        _ clients: [RecordClient],
        _ body: @escaping @Sendable ([Int], RecordClient) async throws -> Void
    ) async throws {
        let shares = min(clients.count * self.parallelMax, count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for share in 0..<shares {
                let numbers = Array(stride(from: share, to: count, by: shares))
                group.addTask { try await body(numbers, clients[share % clients.count]) }
            }
            try await group.waitForAll()
        }
    }
}
