import CloudKit
import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// Assets of two servers of one database: uploads that change servers, and folders that are not shared.
@Suite(.timeLimit(.minutes(10)))
struct SharedAssetsTests {
    private static let chunk = 8 << 20
    private static let slack = 2 << 20

    @Test
    func `an upload that changes servers goes on from its last synced part`() async throws {
        try await ServerPair.run { pair in
            let size = 3 * Self.chunk + 12_345
            let url = try pair.files.make("f", bytes: size)
            let proxy = CuttingProxy(after: [2 * Self.chunk + 300_000])
            let port = try await proxy.start(for: pair.first.port, then: pair.second.port)
            let uploader = try pair.device("up", port: port)
            try await ServerPair.save(pair.record("a", ["file": CKAsset(fileURL: url)]), in: uploader)
            #expect(proxy.cutsLeft == 0 && proxy.counts.connections > 1)
            #expect(proxy.counts.toServer < size + Self.chunk + Self.slack)
            let contents = try Data(contentsOf: url)
            for (name, server) in [("one", pair.first), ("two", pair.second)] {
                let device = try pair.device(name, port: server.port)
                let fetched = try await device.record(for: CKRecord.ID(recordName: "a"))
                #expect(try fetched.file("file") == contents)
            }
            try await proxy.stop()
        }
    }

    @Test
    func `two devices that upload one file through two servers leave one whole file`() async throws {
        try await ServerPair.run { pair in
            let url = try pair.files.make("f", bytes: 2 * Self.chunk + 77)
            let contents = try Data(contentsOf: url)
            let devices = [
                try pair.device("one", port: pair.first.port), try pair.device("two", port: pair.second.port),
            ]
            let records = (0..<2).map { pair.record("r\($0)", ["file": CKAsset(fileURL: url)]) }
            async let saved: Void = ServerPair.save(records[0], in: devices[0])
            async let other: Void = ServerPair.save(records[1], in: devices[1])
            _ = try await (saved, other)
            for number in 0..<2 {
                let reader = try pair.device("reader\(number)", port: pair.second.port)
                let fetched = try await reader.record(for: CKRecord.ID(recordName: "r\(number)"))
                #expect(try fetched.file("file") == contents)
            }
            let verified = try await pair.first.administer(["assets", "verify", "--json"])
            #expect(!verified.isEmpty)
        }
    }

    // MARK: Folders that are not shared

    /// Starts a further server on the database of a pair, with a folder that the body prepares.
    private func start(
        _ pair: ServerPair,
        _ arguments: [String] = [],
        prepare: (_ data: String) throws -> Void
    ) async throws -> ChildProcess {
        let data = pair.files.url("third-\(arguments.count)-\(UInt32.random(in: .min ... .max))").path
        try FileManager.default.createDirectory(
            atPath: data,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try prepare(data)
        let url = try PostgreSQLCluster.running().url(database: pair.database)
        return try ChildProcess(
            ChildProcess.tidemark,
            [
                "serve", "--data", data, "--listen", "127.0.0.1:0", "--engine", "postgres", "--database-url",
                url,
                "--database-sync", "off",
            ] + arguments
        )
    }

    @Test
    func `a server with another folder of assets is refused, and told what to do`() async throws {
        try await ServerPair.run { pair in
            let assets = pair.first.dataPath + "/assets"
            let own = try await self.start(pair) { _ in }.outcome()
            #expect(own.exitCode == 69, "\(own.errors)")
            #expect(own.errors.contains("is not the folder of assets") && own.errors.contains("ln -s"))
            // A copy has files of servers, too, but not of this run of them.
            await pair.second.end(SIGTERM)
            let copied = pair.files.url("copied").path
            try FileManager.default.copyItem(atPath: assets, toPath: copied)
            try await pair.second.start()
            let copy = try await self.start(pair) {
                try FileManager.default.moveItem(atPath: copied, toPath: $0 + "/assets")
            }.outcome()
            #expect(copy.exitCode == 69 && copy.errors.contains("is not the folder"), "\(copy.errors)")
            // A copy of the folder as it is has the files of all that run, which hold their own alone.
            let fresh = try await self.start(pair) {
                try FileManager.default.copyItem(atPath: assets, toPath: $0 + "/assets")
            }.outcome()
            #expect(fresh.exitCode == 69 && fresh.errors.contains("is not the folder"), "\(fresh.errors)")
            // As when the shared file system is not mounted.
            let unmounted = try await self.start(pair) {
                try FileManager.default.createSymbolicLink(
                    atPath: $0 + "/assets",
                    withDestinationPath: "/no/such/folder"
                )
            }.outcome()
            #expect(unmounted.exitCode == 73, "\(unmounted.errors)")
            #expect(unmounted.errors.contains("is mounted"), "\(unmounted.errors)")
            // Those that run are not disturbed, and the refused ones have left nothing.
            let count = "SELECT count(*)::text FROM tidemark.node"
            #expect(try PostgreSQLCluster.running().row(count, in: pair.database) == ["2"])
            let linked = try await self.start(pair) {
                try FileManager.default.createSymbolicLink(
                    atPath: $0 + "/assets",
                    withDestinationPath: assets
                )
            }
            let isListening = await linked.find { $0.contains(" listens on ") ? true : nil }
            #expect(isListening == true)
            linked.signal(SIGTERM)
            #expect(await linked.outcome().exitCode == 0)
        }
    }

    @Test
    func `servers that were killed keep no other one from their folder`() async throws {
        try await ServerPair.run { pair in
            let assets = pair.first.dataPath + "/assets"
            let link: (String) throws -> Void = {
                try FileManager.default.createSymbolicLink(
                    atPath: $0 + "/assets",
                    withDestinationPath: assets
                )
            }
            await pair.second.end(SIGKILL)
            // The lock of the one that runs is proof enough.
            let beside = try await self.start(pair, prepare: link)
            #expect(await beside.find { $0.contains(" listens on ") ? true : nil } == true)
            #expect(!beside.errorsSoFar.contains("waiting until"), "\(beside.errorsSoFar)")
            beside.signal(SIGTERM)
            #expect(await beside.outcome().exitCode == 0)
            await pair.first.end(SIGKILL)
            let third = try await self.start(pair, prepare: link)
            let waits = await third.findError { $0.contains("waiting until another server") ? true : nil }
            #expect(waits == true, "\(third.errorsSoFar)")
            // As if both had been silent for as long as a server counts as running.
            try PostgreSQLCluster.running().execute(
                script: "UPDATE tidemark.node SET seen_ms = seen_ms - 30000",
                in: pair.database
            )
            let isListening = await third.find { $0.contains(" listens on ") ? true : nil }
            #expect(isListening == true, "\(third.errorsSoFar)")
            try await pair.first.start()
            try await pair.second.start()
            third.signal(SIGTERM)
            #expect(await third.outcome().exitCode == 0)
        }
    }

    @Test
    func `servers of apps without assets need no common folder if they say so`() async throws {
        try await ServerPair.run { pair in
            let server = try await self.start(pair, ["--set", "shared_assets=off"]) { _ in }
            let isListening = await server.find { $0.contains(" listens on ") ? true : nil }
            #expect(isListening == true, "\(server.errorsSoFar)")
            server.signal(SIGTERM)
            #expect(await server.outcome().exitCode == 0)
        }
    }
}
