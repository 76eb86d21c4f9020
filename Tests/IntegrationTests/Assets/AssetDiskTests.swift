import CloudKit
import Foundation
import TestSupport
import Testing

/// A real server on a disk that really fills up while it receives a file.
@Suite(.timeLimit(.minutes(10)))
struct AssetDiskTests {
    private static let container = "iCloud.disk"
    private static let mebibyte = 1_024 * 1_024

    /// What makes `write(2)` fail.
    enum Shortage: CaseIterable, Sendable {
        /// A file system of a few megabytes for the assets, that is filled to the last byte.
        case fileSystem
        /// A bound on the size of the server's files.
        case fileSize
    }

    @Test(arguments: Shortage.allCases)
    func `a disk that fills up in the middle of an upload costs that upload alone, until there is room again`(
        shortage: Shortage
    ) async throws {
        try await SmallDisk.run(shortage, reserve: 0) { disk in
            let first = try disk.files.asset("first", bytes: Self.mebibyte, seed: 1)
            try await disk.database.save(disk.record("first", first))
            let (tap, database) = try await disk.tapped()
            tap.stop(TransferTap.Stop(direction: .toServer, offset: Int64(Self.mebibyte)))
            let large = try disk.files.asset("large", bytes: 4 * Self.mebibyte, seed: 2)
            let record = disk.record("large", large)
            async let refusal = thrown { try await database.save(record) }
            await eventually { tap.lives(.toServer).last?.end == Int64(Self.mebibyte) }
            try await eventually { try disk.assetBytes() >= 2 * Self.mebibyte }
            try disk.fill()
            tap.stop(nil)
            let error = try #require(await refusal)
            #expect(error.code == .serviceUnavailable)
            #expect(error.retryAfterSeconds != nil)
            // Bytes have travelled, and nothing is left of them.
            #expect(tap.lives(.toServer).last.map { $0.end > Self.mebibyte } == true)
            try await eventually { try disk.assetNames().count == 1 }
            // Others notice nothing.
            let other = try disk.device("other")
            #expect(
                try await other.record(for: CKRecord.ID(recordName: "first")).file("file").count
                    == Self.mebibyte
            )
            try await other.save(CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "small")))
            await expect(.unknownItem) { _ = try await other.record(for: CKRecord.ID(recordName: "large")) }
            try disk.makeRoom()
            try await database.save(disk.record("large", large))
            let fetched = try await disk.device("third").record(for: CKRecord.ID(recordName: "large"))
            #expect(try fetched.file("file") == Data(contentsOf: disk.files.url("large")))
            #expect(try disk.assetNames().count == 2)
            try await tap.end()
        }
    }

    @Test func `what does not fit is refused before a byte travels, and uploads leave the reserve alone`()
        async throws
    {
        try await SmallDisk.run(.fileSystem, reserve: 4 * Self.mebibyte) { disk in
            guard disk.isFileSystem else { return }
            let (tap, database) = try await disk.tapped()
            // Of 8 MiB half is for others.
            let large = try disk.files.asset("large", bytes: 5 * Self.mebibyte, seed: 1)
            let error = await thrown { try await database.save(disk.record("large", large)) }
            #expect(error?.code == .serviceUnavailable)
            #expect(tap.lives(.toServer) == [])
            let small = try disk.files.asset("small", bytes: 3 * Self.mebibyte, seed: 2)
            tap.stop(TransferTap.Stop(direction: .toServer, offset: Int64(Self.mebibyte)))
            let record = disk.record("small", small)
            async let refusal = thrown { try await database.save(record) }
            await eventually { tap.lives(.toServer).last?.end == Int64(Self.mebibyte) }
            try await eventually { try disk.assetBytes() >= Self.mebibyte }
            try disk.fill(Self.mebibyte + 3 * Self.mebibyte)
            tap.stop(nil)
            #expect(await refusal?.code == .serviceUnavailable)
            try await eventually { try disk.assetNames().isEmpty }
            try disk.makeRoom()
            try await database.save(disk.record("small", small))
            #expect(try disk.assetNames().count == 1)
            try await tap.end()
        }
    }
}

/// A server whose disk is small, and a user of it.
final class SmallDisk {
    private static let container = "iCloud.disk"
    private static let diskBytes = 8 * 1_024 * 1_024
    private static let fileBytesMax: UInt64 = 2 * 1_024 * 1_024 + 500_000

    let files: SampleFiles
    let server: ServerProcess
    let isFileSystem: Bool
    private let token: String
    private var filler: String { self.assetsPath + "/filler" }
    /// As this process sees it.
    private var assetsPath: String {
        let path = self.server.dataPath + "/assets"
        return self.isFileSystem ? "/proc/\(self.server.processID ?? 0)/root\(path)" : path
    }

    static func run(
        _ shortage: AssetDiskTests.Shortage,
        reserve: Int,
        _ body: (SmallDisk) async throws -> Void
    ) async throws {
        let disk = try await SmallDisk(shortage, reserve: reserve)
        try await disk.server.start()
        try await body(disk)
        #expect(await disk.server.end(SIGTERM) == 0)
    }

    private init(_ shortage: AssetDiskTests.Shortage, reserve: Int) async throws {
        self.files = try SampleFiles()
        self.server = try ServerProcess(
            settings: ["--set", "disk_reserve_bytes=\(reserve)", "--set", "asset_chunk_bytes=262144"]
        )
        try await self.server.administer(["container", "create", Self.container])
        self.token = try await self.server.administer(["user", "add", "alice", "--container", Self.container])
        let assets = self.server.dataPath + "/assets"
        try FileManager.default.createDirectory(atPath: assets, withIntermediateDirectories: true)
        let mount = "mount -t tmpfs -o size=\(Self.diskBytes) tmpfs '\(assets)'"
        let shell = URL(fileURLWithPath: "/bin/sh")
        let mounted = try await ChildProcess.run(shell, ["-c", "unshare -Urm sh -c \"\(mount)\""])
        self.isFileSystem = shortage == .fileSystem && mounted.exitCode == 0
        if shortage == .fileSystem, !self.isFileSystem {
            print(
                "AssetDiskTests: nobody may mount here (\(mounted.errors)); a bound on the size of files stands in"
            )
        }
        // The one with a file system of its own that only the server sees; the other with a signal
        // that is not to end it.
        self.server.launcher =
            self.isFileSystem
            ? "exec unshare -Urm sh -c \"\(mount) && exec \\\"\\$@\\\"\" sh \"$@\""
            : "trap '' XFSZ; exec \"$@\""
    }

    func device(_ name: String) throws -> CKDatabase {
        let authority = CKServerConnection.CertificateAuthority.file(self.server.authorityPath)
        return self.database(name, port: self.server.port, authority)
    }

    private(set) lazy var database: CKDatabase = self.database(
        "alice",
        port: self.server.port,
        .file(self.server.authorityPath)
    )

    func tapped() async throws -> (TransferTap, CKDatabase) {
        let tap = try TransferTap()
        let authority = try String(contentsOfFile: self.server.authorityPath, encoding: .utf8)
        let port = try await tap.start(for: self.server.port, authorityPEM: authority)
        return (tap, self.database("tapped", port: port, .pem(tap.authorityPEM)))
    }

    private func database(
        _ name: String,
        port: Int,
        _ authority: CKServerConnection.CertificateAuthority
    ) -> CKDatabase {
        var connection = CKServerConnection(
            url: "tidemark://localhost:\(port)",
            token: self.token,
            certificateAuthority: authority
        )
        connection.cacheFolder = self.files.url("cache-\(name)").path
        return CKContainer(identifier: Self.container, connection: connection).privateCloudDatabase
    }

    func record(_ name: String, _ asset: CKAsset) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        record["file"] = asset
        return record
    }

    func assetNames() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: self.assetsPath).filter { $0.contains("/") }
    }

    func assetBytes() throws -> Int {
        try self.assetNames().reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: self.assetsPath + "/" + name)
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }

    /// Takes so much of the disk, or all that is left.
    func fill(_ bytes: Int = .max) throws {
        guard self.isFileSystem else { return self.limitFiles(to: Self.fileBytesMax) }
        let descriptor = open(self.filler, O_WRONLY | O_CREAT, 0o600)
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        var left = bytes
        for pieceBytes in [65_536, 1] {
            let piece = [UInt8](repeating: 0, count: pieceBytes)
            while left > 0 {
                let count = write(descriptor, piece, min(pieceBytes, left))
                guard count > 0 else { break }
                left -= count
            }
        }
        #expect(bytes < .max || errno == ENOSPC)
    }

    func makeRoom() throws {
        guard self.isFileSystem else { return self.limitFiles(to: .max) }
        #expect(unlink(self.filler) == 0)
    }

    /// A process that runs may be given more, or less.
    private func limitFiles(to bytes: UInt64) {
        let ofFiles: Int32 = 1
        #expect(setLimit(self.server.processID ?? 0, ofFiles, [bytes, .max], nil) == 0)
    }
}

/// Glibc hides this one from Swift behind a feature macro.
///
/// SAFETY: the declaration is that of `sys/resource.h`, where a limit is two of these: what is in
/// force, and how far it may be raised.
@_silgen_name("prlimit")
private func setLimit(
    _ processID: Int32,
    _ resource: Int32,
    _ new: UnsafePointer<UInt64>?,
    _ old: UnsafeMutablePointer<UInt64>?
) -> Int32
