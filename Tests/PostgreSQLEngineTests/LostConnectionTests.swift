import PostgreSQLCluster
import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine

/// Sessions that a server ends while clients save and read.
@Suite(.timeLimit(.minutes(10)))
struct LostConnectionTests {
    private static let savesPerClient = 50

    /// Ends all sessions of a database, again and again, until the task is cancelled.
    static func endSessions(of target: ConnectionTarget) async throws -> Int {
        let connection = try PostgreSQLConnection(
            PostgreSQLCluster.running().target(database: "postgres")
        )
        let sql = SQL(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1",
            reach: .store
        )
        var ended = 0
        while !Task.isCancelled {
            ended += Int(try connection.query(sql, [.text(target.databaseName ?? "")]).integer(0, 0))
            try? await Task.sleep(for: .milliseconds(40))
        }
        return ended
    }

    @Test
    func `every save that was acknowledged is there once, and the rest can be repeated`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        let ending = Task { try await Self.endSessions(of: target) }
        let saved = try await withThrowingTaskGroup(of: [String: String].self) { group in
            for client in 0..<4 { group.addTask { try await Self.saveAll(of: client, it) } }
            return try await group.reduce(into: [:]) { all, tags in all.merge(tags) { first, _ in first } }
        }
        ending.cancel()
        #expect(try await ending.value > 3)
        #expect(saved.count == 4 * Self.savesPerClient)
        #expect(Set(saved.values).count == saved.count)
        for (name, tag) in saved { #expect(try await Self.record(name, it)?.changeTag == tag) }
        #expect(try await it.isOrderWhole())
        #expect(try await it.wrongCounters() == [])
    }

    /// Saves records one after the other, and returns their tags by name.
    private static func saveAll(of client: Int, _ it: EngineUnderTest...) async throws -> [String: String] {
        var tags: [String: String] = [:]
        for number in 0..<self.savesPerClient {
            let name = "r\(client)-\(number)"
            tags[name] = try await self.save(name, it)
            _ = try? await it[0].record(id(name))
        }
        return tags
    }

    /// Saves a new record, and repeats the request under its ID until it is known what became of it.
    ///
    /// Each time another node is asked.
    private static func save(_ name: String, _ nodes: [EngineUnderTest]) async throws -> String? {
        let request = nodes[0].newRequestID()
        let operation = ModifyRecords(scope: .private, saves: [EngineConformance.save(name)])
        for attempt in 0..<1_000 {
            switch await nodes[attempt % nodes.count].write(.modifyRecords(operation), id: request) {
            case .success(let outcomes): return outcomes[0].tag
            case .failure(.storageUnavailable): continue
            case .failure(let error): throw error
            }
        }
        return nil
    }

    @Test
    func `a request that is repeated at another node is executed once`() async throws {
        let one = try await EngineUnderTest.withNotes(.postgreSQL)
        let two = try one.beside()
        let target = try PostgreSQLCluster.running().target(standingFor: one.folder.path)
        let ending = Task { try await Self.endSessions(of: target) }
        let saved = try await withThrowingTaskGroup(of: [String: String].self) { group in
            for client in 0..<4 {
                group.addTask {
                    client % 2 == 0
                        ? try await Self.saveAll(of: client, one, two)
                        : try await Self.saveAll(of: client, two, one)
                }
            }
            return try await group.reduce(into: [:]) { all, tags in all.merge(tags) { first, _ in first } }
        }
        ending.cancel()
        #expect(try await ending.value > 3)
        #expect(saved.count == 4 * Self.savesPerClient)
        #expect(Set(saved.values).count == saved.count)
        for (name, tag) in saved { #expect(try await Self.record(name, one)?.changeTag == tag) }
        // Nothing was executed twice: there are as many changes as saves.
        let changes = try PostgreSQLConnection(target).query(
            SQL("SELECT (SELECT position FROM tidemark.\"zone\" WHERE name = 'notes')", reach: .store)
        )
        #expect(changes.integer(0, 0) == saved.values.compactMap { Int64($0, radix: 36) }.max())
        #expect(try await one.isOrderWhole())
        #expect(try await one.wrongCounters() == [])
    }

    private static func record(_ name: String, _ it: EngineUnderTest) async throws -> Record? {
        // Nobody ends sessions any more, but those that were ended are found out by the next read.
        for _ in 0..<3 {
            if let record = try? await it.record(id(name)) { return record }
        }
        return try await it.record(id(name))
    }

    @Test
    func `a connection that is lost between two reads is made anew, unseen by whoever reads`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL) { $0.readThreads = 1 }
        #expect(try await it.modify([EngineConformance.save("a")]).areSaved)
        #expect(try await it.record(id("a")) != nil)
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        let ending = Task { try await Self.endSessions(of: target) }
        try await Task.sleep(for: .milliseconds(100))
        ending.cancel()
        #expect(try await ending.value > 0)
        #expect(try await it.record(id("a")) != nil)
        #expect(try it.count(AuthorRow.self) > 0)
        #expect(try await it.modify([EngineConformance.save("b")]).areSaved)
    }
}
