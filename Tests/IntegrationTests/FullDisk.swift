import CloudKit
import Foundation
import MonitoringEndpoint
import TestSupport
import Testing

/// A server whose data folder is a small file system of its own, which outlives the server, and a user of it.
final class FullDisk {
    static let container = "iCloud.full"
    /// A sixteenth of it is the reserve.
    static let diskBytes = 64 * 1_024 * 1_024
    static let reserveBytes = FullDisk.diskBytes / 16

    let server: ServerProcess
    private let files: SampleFiles
    private let monitor: EndpointAddress
    /// Keeps the file system mounted.
    private let holder: ChildProcess
    private var token = ""

    /// Nothing happens where nobody may mount.
    static func run(_ body: (FullDisk) async throws -> Void) async throws {
        let disk = try FullDisk()
        guard await disk.isMounted else {
            print("FullDiskTests: nobody may mount here (\(disk.holder.errorsSoFar))")
            return
        }
        try await disk.server.start()
        try await disk.administer("container", "create", Self.container)
        disk.token = try await disk.administer("user", "add", "alice", "--container", Self.container)
        try await body(disk)
        #expect(await disk.server.end(SIGTERM) == 0, "\(disk.server.log())")
    }

    private init() throws {
        self.files = try SampleFiles()
        self.monitor = .unix(path: self.files.url("m").path)
        self.server = try ServerProcess(
            settings: [
                "--metrics-listen", "unix:\(self.files.url("m").path)", "--set", "disk_reserve_bytes=0",
            ]
        )
        let data = self.server.dataPath
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let mount = "mount -t tmpfs -o mode=700,size=\(Self.diskBytes) tmpfs '\(data)'"
        self.holder = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "exec unshare -Urm sh -c \"\(mount) && echo mounted && exec sleep 100000\""]
        )
        self.server.launcher = "exec \(self.enter.joined(separator: " ")) \"$@\""
    }

    private var enter: [String] {
        ["nsenter", "--preserve-credentials", "-U", "-m", "-t", "\(self.holder.processID)"]
    }

    private var isMounted: Bool {
        get async { await self.holder.find { $0.contains("mounted") ? true : nil } ?? false }
    }

    /// As this process sees it.
    func path(_ name: String) -> String {
        "/proc/\(self.holder.processID)/root\(self.server.dataPath)/\(name)"
    }

    func bytes(_ name: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: self.path(name))
        return attributes?[.size] as? Int ?? -1
    }

    /// What a load balancer is told.
    func readiness() async throws -> String { try await HTTPPeer.ask(self.monitor, "/readyz").body }

    /// The value of a gauge, as a collector gets it.
    func gauge(_ name: String) async throws -> Double? {
        try await HTTPPeer.ask(self.monitor, "/metrics").body.split(separator: "\n")
            .first { $0.hasPrefix(name + " ") }
            .flatMap { Double($0.dropFirst(name.count + 1)) }
    }

    func asset(bytes: Int) throws -> CKAsset { try self.files.asset("asset", bytes: bytes, seed: 1) }

    var freeBytes: Int {
        var status = statvfs()
        guard statvfs(self.path(""), &status) == 0 else { return -1 }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    /// Takes all that is left.
    func fill() throws {
        let descriptor = open(self.path("filler"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        let piece = [UInt8](repeating: 0, count: 65_536)
        while write(descriptor, piece, piece.count) > 0 {}
        #expect(errno == ENOSPC)
        #expect(self.freeBytes == 0)
    }

    func makeRoom() { #expect(unlink(self.path("filler")) == 0) }

    /// Runs a command of `tidemark` beside the server, and returns what it prints.
    @discardableResult
    func administer(_ arguments: String...) async throws -> String {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "exec \"$@\"", "sh"] + self.enter + [ChildProcess.tidemark.path] + arguments
                + ["--data", self.server.dataPath]
        )
        guard outcome.exitCode == 0 else {
            throw ServerProcess.Failure.command(
                arguments: arguments,
                status: outcome.exitCode,
                output: outcome.errors
            )
        }
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private(set) lazy var database: CKDatabase = {
        var connection = CKServerConnection(
            url: "tidemark://localhost:\(self.server.port)",
            token: self.token,
            certificateAuthority: .pem(
                (try? String(contentsOfFile: self.path("tls/ca.pem"), encoding: .utf8)) ?? ""
            )
        )
        connection.cacheFolder = self.files.url("cache").path
        return CKContainer(identifier: Self.container, connection: connection).privateCloudDatabase
    }()

    func record(_ name: String, bytes: Int = 100) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        record["data"] = Data(repeating: 7, count: bytes)
        return record
    }

    /// Saves records until one is refused for want of room.
    ///
    /// - Returns: The names of those that were saved.
    func saveUntilRefused(_ prefix: String) async throws -> [String] {
        var saved: [String] = []
        for number in 0..<2_000 {
            do {
                try await self.database.save(self.record("\(prefix)\(number)", bytes: 50_000))
                saved.append("\(prefix)\(number)")
            } catch let error as CKError {
                #expect(error.code == .serviceUnavailable)
                #expect(error.retryAfterSeconds ?? 0 > 1)
                #expect("\(error)".contains("disk is full"), "\(error)")
                return saved
            }
        }
        Issue.record("nothing was refused")
        return saved
    }

    /// Whether a save succeeds.
    func takesSavesAgain(_ name: String) async -> Bool {
        for _ in 0..<6_000 {
            if (try? await self.database.save(self.record(name))) != nil { return true }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return false
    }
}
