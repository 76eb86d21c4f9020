import PostgreSQLCluster
import RecordModel
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// A PostgreSQL server that is killed, and told by its operators to acknowledge commits early.
@Suite(.timeLimit(.minutes(10)))
struct KilledDatabaseTests {
    /// Tags of saves that were acknowledged, by record name.
    private final class Acknowledged: Sendable {
        private let all = Mutex<[String: String]>([:])

        var tags: [String: String] { self.all.withLock { $0 } }
        var count: Int { self.all.withLock { $0.count } }

        func add(_ name: String, _ tag: String?) { self.all.withLock { $0[name] = tag } }
    }

    /// Saves new records until a save is refused.
    private static func save(_ prefix: String, _ it: EngineUnderTest, _ acknowledged: Acknowledged) async {
        for number in 0... {
            let name = "\(prefix)-\(number)"
            guard let tag = try? await it.modify([EngineConformance.save(name)])[0].tag else { return }
            acknowledged.add(name, tag)
        }
    }

    @Test(arguments: ["DATABASE postgres", "ROLE tidemark"])
    func `a server that is killed has lost no acknowledged save, whatever synchronous_commit is set to`(
        level: String
    ) async throws {
        var options = PostgreSQLInstance.Options()
        // What is not written at its commit stays in memory until the kill.
        options.settings = ["wal_writer_delay=10s", "wal_buffers=16MB"]
        let instance = try PostgreSQLInstance(options)
        try instance.administer("ALTER \(level) SET synchronous_commit = off")
        let target = try instance.target()
        try PostgreSQLEngine.prepare(target)
        let notices = Mutex<[ClusterNotice]>([])
        let it = try await EngineUnderTest.withNotes(.postgreSQL) {
            $0.postgreSQL = {
                $0.target = target
                $0.notice = { notice in notices.withLock { $0.append(notice) } }
            }
        }
        for round in 0..<2 {
            let acknowledged = Acknowledged()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask { await Self.save("r\(round)-\(writer)", it, acknowledged) }
                }
                group.addTask {
                    await until { acknowledged.count >= 200 }
                    try await instance.kill()
                }
                try await group.waitForAll()
            }
            try instance.start()
            await until { (try? await it.record(id("r\(round)-0-0"))) != nil }
            for (name, tag) in acknowledged.tags {
                #expect(try await it.record(id(name))?.changeTag == tag, "\(name)")
            }
        }
        #expect(try await it.isOrderWhole())
        #expect(try await it.wrongCounters() == [])
        await it.store.shutdown()
        let isNew = notices.withLock { $0.contains { if case .newEpoch = $0 { true } else { false } } }
        #expect(!isNew, "clients need not fetch everything anew")
    }
}
