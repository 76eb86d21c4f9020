import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// What happens to records and files while they are on their way.
@Suite(.timeLimit(.minutes(10)))
struct AssetSurpriseTests {
    private static let mebibyte = 1_024 * 1_024

    /// The desk's database for another device, whose transfers a tap sees.
    private func tapped(_ desk: Desk, _ name: String) async throws -> (TransferTap, CKDatabase) {
        var connection = try await desk.server.connection(for: "alice")
        guard case .pem(let authority) = connection.certificateAuthority else {
            throw CKError(.internalError)
        }
        let tap = try TransferTap()
        let server = try #require(URL(string: desk.server.url)?.port)
        let port = try await tap.start(for: server, authorityPEM: authority)
        connection.url = "tidemark://localhost:\(port)"
        connection.certificateAuthority = .pem(tap.authorityPEM)
        connection.cacheFolder = (connection.cacheFolder ?? "") + "-" + name
        let container = CKContainer(
            identifier: TestServer.defaultContainerIdentifier,
            connection: connection
        )
        return (tap, container.privateCloudDatabase)
    }

    /// Waits until the server has so many files of assets: it lets go of an upload a moment after
    /// the end, and the grace time begins then.
    private func removeUnnamedAssets(of desk: Desk, until count: Int) async throws {
        let folder = desk.server.folder + "/assets"
        try await eventually {
            desk.server.clock.advance(by: .seconds(2 * 86_400))
            try await desk.server.removeUnnamedAssets()
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
            return names.count { $0.contains("/") } == count
        }
    }

    @Test(arguments: [true, false])
    func `a record that changes while its files come is one version, whole`(isCut: Bool) async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let bytes = 3 * Self.mebibyte
            func contents(_ version: Int) throws -> [CKAsset] {
                try (0..<2).map { number in
                    let seed = UInt64(10 * version + number)
                    return try files.asset("f\(version)-\(number)", bytes: bytes, seed: seed)
                }
            }
            func save(_ version: Int) async throws {
                let record = desk.record("a", ["version": version, "files": try contents(version)])
                let results = try await desk.database.modifyRecords(
                    saving: [record],
                    deleting: [],
                    savePolicy: .allKeys
                ).saveResults
                _ = try results[record.recordID]?.get()
            }
            try await save(1)
            let (tap, device) = try await self.tapped(desk, "tapped")
            tap.stop(TransferTap.Stop(direction: .toClient, offset: Int64(Self.mebibyte)))
            async let fetched = device.record(for: desk.id("a"))
            await eventually { tap.lives(.toClient).last?.end == Int64(Self.mebibyte) }
            try await save(2)
            if isCut {
                tap.cut()
                // Its files are not there any more either.
                try await self.removeUnnamedAssets(of: desk, until: 2)
            } else {
                // Somebody reads them, so they stay for as long.
                desk.server.clock.advance(by: .seconds(2 * 86_400))
                try await desk.server.removeUnnamedAssets()
            }
            tap.stop(nil)
            let record = try await fetched
            let version = try #require(record["version"] as? Int)
            let expected = try (0..<2).map { try Data(contentsOf: files.url("f\(version)-\($0)")) }
            #expect(try record.files("files") == expected)
            #expect(version == (isCut ? 2 : 1))
            try await tap.end()
        }
    }

    @Test func `a record that is deleted while its files come is gone`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            try await desk.database.save(
                desk.record("a", ["file": files.asset("f", bytes: 3 * Self.mebibyte)])
            )
            let (tap, device) = try await self.tapped(desk, "tapped")
            tap.stop(TransferTap.Stop(direction: .toClient, offset: Int64(Self.mebibyte)))
            async let error = thrown { _ = try await device.record(for: desk.id("a")) }
            await eventually { tap.lives(.toClient).last?.end == Int64(Self.mebibyte) }
            _ = try await desk.database.deleteRecord(withID: desk.id("a"))
            tap.cut()
            tap.stop(nil)
            #expect(await error?.code == .unknownItem)
            try await tap.end()
        }
    }

    @Test func `what an interrupted download has left is downloaded again when a byte of it was flipped`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let size = 2 * Self.mebibyte
            let url = try files.make("f", bytes: size)
            try await desk.database.save(desk.record("a", ["file": CKAsset(fileURL: url)]))
            let (tap, device) = try await self.tapped(desk, "tapped")
            tap.stop(TransferTap.Stop(direction: .toClient, offset: Int64(Self.mebibyte)))
            let operation = CKFetchRecordsOperation(recordIDs: [desk.id("a")])
            operation.database = device
            async let ended: Void = withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                operation.start()
            }
            let cache = (try await desk.server.connection(for: "alice").cacheFolder ?? "") + "-tapped"
            await eventually { ServerFiles.partialBytes(in: cache) == Int64(Self.mebibyte) }
            operation.cancel()
            await ended
            tap.stop(nil)
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: cache + "/partial").first
            )
            let file = try #require(FileHandle(forUpdatingAtPath: cache + "/partial/" + name))
            try file.seek(toOffset: 500_000)
            let byte = try #require(try file.read(upToCount: 1)?.first)
            try file.seek(toOffset: 500_000)
            try file.write(contentsOf: Data([byte ^ 1]))
            try file.close()
            let record = try await device.record(for: desk.id("a"))
            #expect(try record.file("file") == Data(contentsOf: url))
            #expect(tap.lives(.toClient).map(\.start) == [0, Int64(Self.mebibyte), 0])
            #expect(tap.lives(.toClient).last?.end == Int64(size))
            try await tap.end()
        }
    }

    @Test(arguments: [false, true])
    func `a file that the server has lost between its upload and the save is uploaded again`(
        isAtomic: Bool
    ) async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let url = try files.make("f", bytes: Self.mebibyte)
            let (tap, device) = try await self.tapped(desk, "tapped")
            let with = desk.record("with", ["file": CKAsset(fileURL: url)])
            let without = desk.record("without", ["title": "x"])
            tap.holdSaves(true)
            async let saved = device.modifyRecords(
                saving: [without, with],
                deleting: [],
                savePolicy: .ifServerRecordUnchanged,
                atomically: isAtomic
            )
            await eventually { tap.heldSaves == 1 }
            try await self.removeUnnamedAssets(of: desk, until: 0)
            tap.holdSaves(false)
            for result in try await saved.saveResults.values { _ = try result.get() }
            let lives = tap.lives(.toServer)
            #expect(
                lives.map(\.start) == [0, 0]
                    && lives.map(\.end) == [Int64(Self.mebibyte), Int64(Self.mebibyte)]
            )
            #expect(
                try await desk.database.record(for: desk.id("with")).file("file") == Data(contentsOf: url)
            )
            #expect(try await desk.database.record(for: desk.id("without"))["title"] as? String == "x")
            try await tap.end()
        }
    }

    @Test func `a server that loses a file over and over is not asked for ever`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            desk.server.faults.add(.save(.every), .itemFailure(0, .assetNotAvailable))
            let (tap, device) = try await self.tapped(desk, "tapped")
            let records = [
                desk.record("a", ["file": try files.asset("f", bytes: 1_000)]),
                desk.record("other", ["title": "x"]),
            ]
            let (results, _) = try await device.modifyRecords(
                saving: records,
                deleting: [],
                savePolicy: .changedKeys,
                atomically: false
            )
            #expect(results[desk.id("a")]?.cloudKitError?.code == .serverRejectedRequest)
            _ = try results[desk.id("other")]?.get()
            #expect(results.count == 2 && tap.lives(.toServer).count == 3)
            try await tap.end()
        }
    }

    @Test func `a record may have more files than a request or a process may have`() async throws {
        let count = 450
        try await Desk.run { desk in
            let files = try SampleFiles()
            let assets = try (0..<count).map { number in
                try files.asset("f\(number)", bytes: 200 + number, seed: UInt64(number))
            }
            let device = try await desk.device("other")
            let cache = (try await desk.server.connection(for: "alice").cacheFolder ?? "") + "-other"
            let peak = Collected<Int>()
            let watch = Task {
                while !Task.isCancelled {
                    peak.append(openFiles(below: [files.folder.path, cache]))
                    try? await Task.sleep(for: .milliseconds(2))
                }
            }
            try await desk.database.save(desk.record("a", ["files": assets]))
            let fetched = try await device.record(for: desk.id("a")).files("files")
            watch.cancel()
            await watch.value
            #expect(fetched.count == count)
            for (number, data) in fetched.enumerated() {
                #expect(try data == Data(contentsOf: files.url("f\(number)")))
            }
            #expect(peak.values.max() ?? .max < 100)
        }
    }
}

/// How many files of some folders this process has open.
private func openFiles(below folders: [String]) -> Int {
    let own = "/proc/self/fd"
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: own)) ?? []
    return descriptors.count { name in
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: own + "/" + name) else {
            return false
        }
        return folders.contains { path.hasPrefix($0 + "/") }
    }
}
