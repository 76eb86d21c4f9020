import CloudKit
import Foundation
import Synchronization
import TestSupport
import Testing

/// `tidemark backup --follow` beside the server of a scene.
final class FollowProcess: Sendable {
    /// A line of its output.
    struct Event: Decodable, Hashable {
        var event: String
        var base: String?
        var increment: Int?
        var time: String?
        var covers: String?
        var bytes: Int?
        var assets: Int?
        var error: String?

        /// Milliseconds since 1970.
        func milliseconds(_ text: String?) -> Int64 {
            let parts = (text ?? "").dropLast().split(separator: ".")
            guard parts.count == 2, let date = try? Date("\(parts[0])Z", strategy: .iso8601) else {
                return -1
            }
            return Int64(date.timeIntervalSince1970) * 1_000 + (Int64(parts[1]) ?? 0)
        }
    }

    let process: ChildProcess

    init(_ scene: BackupScene, to name: String, _ arguments: String...) throws {
        self.process = try ChildProcess(
            ChildProcess.tidemark,
            ["backup", "--follow", "--json", "--data", scene.server.dataPath, "--to", scene.path(name)]
                + (arguments.contains("--every") ? [] : ["--every", "1s"]) + arguments
        )
    }

    static func events(_ output: String) -> [Event] {
        output.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Event.self, from: Data($0.utf8))
        }
    }

    /// Waits for so many events of a kind.
    @discardableResult
    func wait(for kind: String, count: Int = 1) async -> [Event] {
        let found = await self.process.find { output in
            let events = Self.events(output).filter { $0.event == kind }
            return events.count >= count ? events : nil
        }
        #expect(found != nil, "\(self.process.errorsSoFar)")
        return found ?? []
    }

    /// Ends it in order, and returns all it has told.
    func stop() async -> [Event] {
        self.process.signal(SIGTERM)
        let outcome = await self.process.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return Self.events(outcome.output)
    }

    func kill() async -> [Event] {
        self.process.signal(SIGKILL)
        return Self.events(await self.process.outcome().output)
    }
}

/// Saves records with ascending numbers until it is stopped, and notes when each was sent and
/// acknowledged.
final class TimedWriter: Sendable {
    struct Times {
        var sent: [Int64] = []
        var acknowledged: [Int64] = []
    }

    let number: Int
    private let state = Mutex((times: Times(), isStopped: false))

    init(_ number: Int) { self.number = number }

    var times: Times { self.state.withLock { $0.times } }
    /// How many were acknowledged.
    var count: Int { self.times.acknowledged.count }

    func stop() { self.state.withLock { $0.isStopped = true } }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Each save is a transaction of two records, which are there both or not at all.
    func run(_ database: sending CKDatabase, in zone: CKRecordZone.ID) async throws {
        while true {
            let index: Int? = self.state.withLock { state in
                guard !state.isStopped else { return nil }
                state.times.sent.append(Self.now)
                return state.times.sent.count
            }
            guard let index else { return }
            let notes = ["w\(self.number)-\(index)", "v\(self.number)-\(index)"].map { name in
                let id = CKRecord.ID(recordName: name, zoneID: zone)
                let note = CKRecord(recordType: "Note", recordID: id)
                note["bytes"] = Data(count: 1_000)
                return note
            }
            let results = try await database.modifyRecords(
                saving: notes,
                deleting: [],
                savePolicy: .allKeys,
                atomically: true
            )
            for result in results.saveResults.values { _ = try result.get() }
            self.state.withLock { $0.times.acknowledged.append(Self.now) }
        }
    }

    /// The contents that a restored state must have: everything that was acknowledged before it, nothing
    /// that was sent after it, and nothing behind a gap.
    func check(_ names: Set<String>, covers: Int64, time: Int64) {
        var count = 0
        while names.contains("w\(self.number)-\(count + 1)") { count += 1 }
        let (times, all) = (self.times, names.filter { $0.hasPrefix("w\(self.number)-") }.count)
        #expect(all == count, "writer \(self.number): \(all) records, and a gap behind \(count)")
        let halves = names.filter { $0.hasPrefix("v\(self.number)-") }.count
        #expect(halves == count, "writer \(self.number): half of a transaction")
        let acknowledged = times.acknowledged.prefix { $0 < covers }.count
        #expect(count >= acknowledged, "writer \(self.number) lacks what was acknowledged")
        #expect(count <= times.sent.count)
        if count > 0 { #expect(times.sent[count - 1] <= time, "writer \(self.number): from after the state") }
    }
}

extension BackupScene {
    func restoreChain(
        _ name: String,
        to data: String,
        _ arguments: String...
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["restore", "--from", self.path(name), "--data", self.path(data)] + arguments
        )
    }

    /// Names of all records in a folder that no server serves.
    func recordNames(in data: String) async throws -> Set<String> {
        let script = """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            print(*connection.execute("PRAGMA integrity_check").fetchone())
            for (name,) in connection.execute("SELECT name FROM record"): print(name)
            """
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            ["-c", script, self.path(data) + "/tidemark.sqlite"]
        )
        #expect(outcome.output.hasPrefix("ok\n"), "\(outcome.output.prefix(500)) \(outcome.errors)")
        return Set(outcome.output.split(separator: "\n").dropFirst().map(String.init))
    }

    /// Runs writers beside a body, and ends them.
    func withWriters(_ count: Int, _ body: ([TimedWriter]) async throws -> Void) async throws -> [TimedWriter]
    {
        let writers = (1...count).map { TimedWriter($0) }
        let tasks = writers.map { writer in
            let own = self.database("writer-\(writer.number)")
            let zone = self.zone
            return Task { try await writer.run(own, in: zone) }
        }
        await eventually { writers.allSatisfy { $0.count >= 3 } }
        try await body(writers)
        for writer in writers { writer.stop() }
        for task in tasks { try await task.value }
        return writers
    }
}
