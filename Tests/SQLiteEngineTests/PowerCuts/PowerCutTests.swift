import Foundation
import RecordClient
import RecordModel
import RecordStore
import TestSupport
import Testing
import WireProtocol

@testable import SQLiteEngine

/// Losses of power under a server that writes: a library before libc notes all writes and syncs of the
/// store's files, and each cut makes another disk of them.
///
/// `SEED=… swift test --filter PowerCutTests` repeats the cuts, but not what was written.
/// `TIDEMARK_POWER_CUTS=1000` makes a long run.
@Suite(.timeLimit(.minutes(60)))
struct PowerCutTests {
    private static let container = "iCloud.cut"
    private static let zone = ZoneID(zoneName: "cut")
    private static let rounds = 4
    private static let writers = 4
    private static let savesPerWriter = 40

    private static var cuts: Int {
        ProcessInfo.processInfo.environment["TIDEMARK_POWER_CUTS"].flatMap { Int($0) } ?? 40
    }

    /// A save that was acknowledged when the journal had that many bytes.
    private struct Acknowledged {
        let name: String
        let journalEnd: Int
    }

    /// What was written, and when it was acknowledged.
    private struct Recording {
        var disk: CutDisk
        var acknowledged: [Acknowledged]
    }

    // MARK: Writing

    private static func library(in folder: TemporaryDirectory) async throws -> String {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("DiskJournal.c").path
        let path = folder.path + "/journal.so"
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["clang", "-O1", "-Wall", "-shared", "-fPIC", "-o", path, source, "-ldl"]
        )
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
        return path
    }

    private static func files(in data: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: data)
        where name.hasPrefix(DatabaseFile.name) && !name.hasSuffix("-shm") {
            files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: data + "/" + name)))
        }
        return files
    }

    private static func record(_ seed: UInt64) async throws -> Recording {
        let scratch = try TemporaryDirectory()
        let journal = scratch.path + "/journal"
        let library = try await Self.library(in: scratch)
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        let token = try await server.administer(["user", "add", "writer", "--container", Self.container])
        let base = try Self.files(in: server.dataPath)
        server.launcher =
            "DISK_JOURNAL=\(journal) DISK_JOURNAL_PREFIX=\(server.dataPath)/ LD_PRELOAD=\(library) exec \"$@\""
        var acknowledged: [Acknowledged] = []
        for round in 0..<Self.rounds {
            try await server.start()
            acknowledged += try await Self.write(round, server, token, journal, seed)
            // The log is copied into the file meanwhile.
            try await Task.sleep(for: .seconds(2))
            acknowledged += try await Self.write(round + 100, server, token, journal, seed)
            await server.end(round.isMultiple(of: 2) ? SIGKILL : SIGTERM)
        }
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: journal)))
        let disk = CutDisk(base: base, operations: try DiskOperation.read(bytes).filter(Self.isOfStore))
        return Recording(disk: disk, acknowledged: acknowledged)
    }

    private static func isOfStore(_ operation: DiskOperation) -> Bool {
        operation.name.hasPrefix(DatabaseFile.name)
    }

    private static func write(
        _ round: Int,
        _ server: ServerProcess,
        _ token: String,
        _ journal: String,
        _ seed: UInt64
    ) async throws -> [Acknowledged] {
        let client = RecordClient(
            configuration: ClientConfiguration(
                host: "localhost",
                port: server.port,
                trust: .authorities(file: server.authorityPath),
                container: self.container,
                accessToken: token
            )
        )
        let zone = ModifyZones(scope: .private, saves: [self.zone])
        _ = try await client.perform(.modifyZones(zone), timeout: .seconds(60))
        let all = try await withThrowingTaskGroup(of: [Acknowledged].self) { group in
            for writer in 0..<self.writers {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(round * 10 + writer))
                    var acknowledged: [Acknowledged] = []
                    for number in 0..<self.savesPerWriter {
                        let name = "r\(round)-w\(writer)-\(number)"
                        let bytes = Int.random(in: 10...9_000, using: &generator)
                        try await self.save(name, bytes: bytes, client)
                        let size = try FileManager.default.attributesOfItem(atPath: journal)[.size]
                        let end = (size as? NSNumber)?.intValue ?? 0
                        acknowledged.append(Acknowledged(name: name, journalEnd: end))
                    }
                    return acknowledged
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        await client.shutdown()
        return all
    }

    private static func save(_ name: String, bytes: Int, _ client: RecordClient) async throws {
        let save = RecordSave(
            id: RecordID(zone: self.zone, recordName: name),
            recordType: "Note",
            changeTag: nil,
            changes: RecordBody([
                Field(name: "filling", value: .bytes([UInt8](repeating: 7, count: bytes))),
                Field(name: "title", value: .string(name)),
            ])
        )
        let saves = ModifyRecords(scope: .private, saves: [save])
        let outcomes = try await client.perform(.modifyRecords(saves), timeout: .seconds(60))
        guard let outcome = outcomes[0], case .recordSaved = outcome else { throw CancellationError() }
    }

    // MARK: Cutting

    /// What is wrong with a store; empty if nothing is.
    private static func faults(of files: [String: [UInt8]], _ expected: Set<String>) async throws -> [String]
    {
        let folder = try TemporaryDirectory()
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        }
        let clock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        let engine: SQLiteEngine
        do {
            engine = try SQLiteEngine(
                configuration: SQLiteEngineConfiguration(
                    directory: folder.path,
                    housekeeping: Housekeeping.maker()
                ),
                clock: clock
            ) { _ in }
        } catch {
            return ["refused: \(error)"]
        }
        let store = Store(engine, configuration: StoreConfiguration(clock: clock))
        var faults = try await StoreVerification(store).run().findings.map { "\($0)" }
        let file = try PlainFile(path: folder.path + "/" + DatabaseFile.name)
        let names = Set(try file.texts("SELECT name FROM record"))
        let lost = expected.subtracting(names)
        if !lost.isEmpty { faults.append("lost: \(lost.sorted().prefix(3)) and \(lost.count - 1) more") }
        await store.shutdown()
        return faults
    }

    @Test
    func `no acknowledged save is lost in a power cut, and nothing is wrong after it`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("PowerCutTests: SEED=\(generator.seed), \(Self.cuts) cuts")
        let recording = try await Self.record(generator.seed)
        let operations = recording.disk.operations
        #expect(operations.filter { $0.kind == .sync }.count > 50)
        #expect(operations.contains { $0.name == DatabaseFile.name && $0.kind == .write })
        var mostExpected = 0
        for cut in 0..<Self.cuts {
            let count = Int.random(in: 1...operations.count, using: &generator)
            let fate = CutDisk.Fate.allCases[cut % CutDisk.Fate.allCases.count]
            let files = recording.disk.files(after: count, fate, &generator)
            let end = operations[count - 1].end
            let expected = Set(recording.acknowledged.filter { $0.journalEnd <= end }.map(\.name))
            mostExpected = max(mostExpected, expected.count)
            let faults = try await Self.faults(of: files, expected)
            #expect(faults == [], "cut \(cut) after \(count) operations: \(fate)")
        }
        #expect(mostExpected > 200)
    }

    @Test
    func `a disk that forgets what was synced is caught`() async throws {
        let seed: UInt64 = 7
        let recording = try await Self.record(seed)
        var generator = SeededGenerator(seed: seed)
        let log = DatabaseFile.name + "-wal"
        // Syncs that the disk only says it did.
        let lying = CutDisk(
            base: recording.disk.base,
            operations: recording.disk.operations.filter { $0.kind != .sync || $0.name != log }
        )
        var caught = 0
        for cut in 1...8 {
            let count = lying.operations.count * cut / 8
            let files = lying.files(after: count, .torn, &generator)
            let end = lying.operations[count - 1].end
            let expected = Set(recording.acknowledged.filter { $0.journalEnd <= end }.map(\.name))
            if try await !Self.faults(of: files, expected).isEmpty { caught += 1 }
        }
        #expect(caught > 4)
    }
}
