import CloudKit
import Foundation
import NIOCore
import RecordServer
import TestSupport
import Testing

@testable import tidemark

/// What a server does about the number of files that it may have open.
@Suite(.timeLimit(.minutes(10)))
struct DescriptorLimitTests {
    private static let warning = "the limit of open files is too low"

    /// The limits of a server that a shell with these limits started, soft before hard, and the server's log.
    private func serve(limits: String, _ settings: String...) async throws -> (limits: [Int], log: String) {
        let directory = try TemporaryDirectory()
        let process = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", "\(limits); exec \"$@\"", "sh", ChildProcess.tidemark.path, "serve", "--data",
                directory.path + "/data", "--listen", "127.0.0.1:0",
            ] + (["threads=2", "read_threads=2"] + settings).flatMap { ["--set", $0] }
        )
        _ = await process.find { $0.contains(" listens on ") ? true : nil }
        let text = try String(contentsOfFile: "/proc/\(process.processID)/limits", encoding: .utf8)
        process.signal(SIGTERM)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let line = text.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        return (line?.split(separator: " ").compactMap { Int($0) } ?? [], outcome.errors)
    }

    @Test func `the soft limit is raised to the hard one`() async throws {
        let run = try await self.serve(limits: "ulimit -Sn 300; ulimit -Hn 600", "connections_max=100")
        #expect(run.limits == [600, 600])
        #expect(!run.log.contains(Self.warning), "\(run.log)")
    }

    @Test func `a limit that is too low for the connections is one warning with the numbers`() async throws {
        let run = try await self.serve(limits: "ulimit -n 600", "connections_max=900")
        let lines = run.log.split(separator: "\n").filter { $0.contains(Self.warning) }
        try #require(lines.count == 1, "\(run.log)")
        #expect(lines[0].contains("connections_max=900 limit=600 needed="))
        #expect(lines[0].contains("ulimit -n") && lines[0].contains("LimitNOFILE"))
    }

    @Test func `every connection and every upload counts`() {
        var settings = Settings.defaults
        let before = DescriptorLimit.needed(by: settings)
        #expect(before > settings.server.listen.connectionsMax + settings.server.assets.uploadsMax)
        settings.server.listen.connectionsMax += 10
        settings.server.assets.uploadsMax += 1
        #expect(DescriptorLimit.needed(by: settings) == before + 13)
    }

    /// Hundredths of a second.
    private static func processorTicks(of server: ServerProcess) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(server.processID ?? 0)/stat", encoding: .utf8)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        // Behind the name: the twelfth and the thirteenth.
        return fields[11...12].compactMap { Int($0) }.reduce(0, +)
    }

    @Test func `without descriptors those who are there are served, and those who come wait`() async throws {
        let container = "iCloud.descriptors"
        let server = try ServerProcess(
            settings: ["threads=2", "read_threads=2", "handshake_timeout_ms=120000"].flatMap {
                ["--set", $0]
            }
        )
        server.launcher = "ulimit -n 160; exec \"$@\""
        try await server.administer(["container", "create", container])
        let token = try await server.administer(["user", "add", "ada", "--container", container])
        try await server.start()
        func database() -> CKDatabase {
            let connection = CKServerConnection(
                url: "tidemark://127.0.0.1:\(server.port)",
                token: token,
                certificateAuthority: .file(server.authorityPath)
            )
            return CKContainer(identifier: container, connection: connection).privateCloudDatabase
        }
        func note(_ name: String) -> CKRecord {
            CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        }
        let known = database()
        _ = try await known.save(note("before"))

        // They never begin with TLS.
        var silent: [RawPeer] = []
        let line = "connections wait: the system has no room for another"
        while !server.log().contains(line) {
            if silent.count < 250 {
                silent.append(try await RawPeer.connect(port: server.port, authorityFile: nil))
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        // Those who wait cost nothing: a loop that tries again and again takes a whole core.
        let before = try Self.processorTicks(of: server)
        try await Task.sleep(for: .seconds(1))
        #expect(try Self.processorTicks(of: server) - before < 30, "of a hundred in a second")
        let fileURL = URL(fileURLWithPath: server.folder.path + "/asset")
        try Data(count: 100_000).write(to: fileURL)
        let withAsset = note("with an asset")
        withAsset["file"] = CKAsset(fileURL: fileURL)
        // Its file can't be made now: the save fails, or succeeds when it is tried again.
        async let asset = try? known.save(withAsset)
        let late = database()
        async let newcomer = late.record(for: CKRecord.ID(recordName: "before"))
        for number in 0..<20 {
            _ = try await known.save(note("\(number)"))
            _ = try await known.record(for: CKRecord.ID(recordName: "\(number)"))
        }

        for peer in silent { try? await peer.channel.close() }
        #expect(try await newcomer.recordID.recordName == "before")
        _ = await asset
        let later = note("with an asset, later")
        later["file"] = CKAsset(fileURL: fileURL)
        _ = try await known.save(later)
        let lines = server.log().split(separator: "\n").filter { $0.contains(line) && !$0.contains("fault=") }
        #expect(lines.count == 1 || lines.dropFirst().allSatisfy { $0.contains(" times=") }, "\(lines)")
        #expect(await server.end(SIGTERM) == 0)
    }
}
