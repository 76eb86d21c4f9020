import Crypto
import FileIO
import Foundation
import RecordClient
import RecordModel
import TestSupport
import Testing
import WireProtocol

/// What uploads and downloads make a server hold, measured at its process.
@Suite(.timeLimit(.minutes(10)))
struct AssetMemoryTests {
    private static let mebibyte = 1_024 * 1_024
    /// The promise: above what the server takes while its connections are idle.
    private static let mostBytes = 64 * mebibyte
    private static let transfers = 32
    private static let zone = ZoneID(zoneName: "files")

    /// A file of equal bytes, so that it takes no memory on this side.
    private struct File: Sendable {
        static let bytes = 16 * mebibyte

        let number: Int
        let asset: Asset

        init(_ number: Int) {
            self.number = number
            let block = Data(repeating: UInt8(number), count: mebibyte)
            var hash = SHA256()
            for _ in 0..<Self.bytes / mebibyte { hash.update(data: block) }
            self.asset = Asset(sha256: Array(hash.finalize()), size: Int64(Self.bytes))
        }

        var record: RecordID { RecordID(zone: zone, recordName: "file-\(self.number)") }
    }

    @Test
    func `32 uploads at once, and 32 downloads, by slow readers too, take less than 64 MiB of a server`()
        async throws
    {
        let server = try ServerProcess()
        try await server.administer(["container", "create", "iCloud.memory"])
        let token = try await server.administer(["user", "add", "alice", "--container", "iCloud.memory"])
        try await server.start()
        let clients = (0..<Self.transfers).map { _ in
            RecordClient(
                configuration: ClientConfiguration(
                    host: "127.0.0.1",
                    port: server.port,
                    trust: .authorities(file: server.authorityPath),
                    container: "iCloud.memory",
                    accessToken: String(token.split(separator: "\n").last ?? "")
                )
            )
        }
        for client in clients { _ = try await client.welcome(timeout: .seconds(600)) }
        try await Self.perform(.modifyZones(ModifyZones(scope: .private, saves: [Self.zone])), clients[0])
        let files = (1...Self.transfers).map { File($0) }
        let idle = try server.residentBytes()

        // On four connections, and on one for each.
        for perConnection in [8, 1] {
            let numbered = Array(zip(files, clients.indices.map { clients[$0 / perConnection] }))
            if perConnection == 8 {
                try await Self.measure("uploads", server, above: idle, numbered) { file, client in
                    try await Self.upload(file, client)
                }
            }
            try await Self.measure("downloads, \(perConnection) a connection", server, above: idle, numbered)
            {
                try await Self.download($0, $1, pause: .zero)
            }
            try await Self.measure(
                "slow downloads, \(perConnection) a connection",
                server,
                above: idle,
                numbered
            ) {
                try await Self.download($0, $1, pause: .milliseconds(10))
            }
        }
        for client in clients { await client.shutdown() }
        await server.end(SIGTERM)
    }

    /// Does something with all files at once, and looks at the most that the server took meanwhile.
    private static func measure(
        _ what: String,
        _ server: ServerProcess,
        above idle: Int,
        _ files: [(File, RecordClient)],
        _ body: @escaping @Sendable (File, RecordClient) async throws -> Void
    ) async throws {
        try server.forgetResidentPeak()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (file, client) in files { group.addTask { try await body(file, client) } }
            try await group.waitForAll()
        }
        let taken = try server.residentPeakBytes() - idle
        print("AssetMemoryTests: \(what) took \(taken / 1_024) KiB above \(idle / 1_024) KiB")
        #expect(taken < Self.mostBytes, "\(what)")
    }

    private static func upload(_ file: File, _ client: RecordClient) async throws {
        let byte = UInt8(file.number)
        let upload = AssetUpload(scope: .private, assets: [file.asset]) {
            (_, _, memory: FileMemory) throws(FileFailure) in
            _ = memory.initializeMemory(as: UInt8.self, repeating: byte)
        }
        try await client.upload(upload, requestTimeout: .seconds(60), resourceTimeout: .seconds(240))
        let fields = RecordBody([Field(name: "file", value: .asset(file.asset))])
        let save = RecordSave(id: file.record, recordType: "File", changes: fields)
        let modify = ModifyRecords(scope: .private, saves: [save], policy: .changedKeys)
        try await Self.perform(.modifyRecords(modify), client)
    }

    private static func download(_ file: File, _ client: RecordClient, pause: Duration) async throws {
        let byte = UInt8(file.number)
        let part = AssetDownload.Part(file.asset, 0..<file.asset.size)
        let download = AssetDownload(scope: .private, record: file.record, parts: [part]) {
            _,
            _,
            pieces throws(FileFailure) in
            for bytes in pieces {
                guard bytes.first == byte, bytes.last == byte else { throw .failed("other bytes") }
            }
            usleep(UInt32(pause / .microseconds(1)))
        }
        try await client.download(download, requestTimeout: .seconds(60), resourceTimeout: .seconds(240))
    }

    private static func perform(_ operation: RecordModel.Operation, _ client: RecordClient) async throws {
        for outcome in try await client.perform(operation, timeout: .seconds(600)).values {
            if case .failure(let failure) = outcome { throw failure }
        }
    }
}
