import PostgreSQLCluster
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// Clusters whose history may have gone back, and what tokens are worth then.
@Suite(.timeLimit(.minutes(10)))
struct ClusterHistoryTests {
    private static func facts(
        system: Int64 = 1,
        timeline: Int64 = 1,
        tables: Int64 = 1,
        logEnd: Int64 = 100
    ) -> ClusterFacts {
        ClusterFacts(system: system, timeline: timeline, tables: tables, postmaster: 1, logEnd: logEnd)
    }

    private static func history(
        _ facts: ClusterFacts,
        row: ClusterFacts? = ClusterHistoryTests.facts(),
        known: ClusterFacts? = nil,
        hasAcknowledged: Bool = true,
        isSynchronous: Bool = true
    ) -> ClusterHistory {
        ClusterHistory(
            facts,
            row: ClusterRow(
                system: row?.system ?? 0,
                timeline: row?.timeline ?? 0,
                tables: row?.tables ?? 0
            ),
            known: known,
            hasAcknowledged: hasAcknowledged,
            isSynchronous: isSynchronous
        )
    }

    @Test
    func `a history is whole if nothing can have gone, and else may have gone back`() {
        let now = Self.facts()
        #expect(Self.history(now, row: nil) == .whole)
        #expect(Self.history(now) == .whole)
        #expect(Self.history(now, known: Self.facts(logEnd: 90)) == .whole)
        #expect(Self.history(now, known: Self.facts(logEnd: 110)) == .mayHaveGoneBack(.wentBack))
        #expect(Self.history(now, hasAcknowledged: false) == .mayHaveGoneBack(.wentBack))
        #expect(Self.history(Self.facts(system: 2)) == .mayHaveGoneBack(.otherCluster))
        #expect(Self.history(Self.facts(tables: 2)) == .mayHaveGoneBack(.restored))
        let promoted = Self.facts(timeline: 2)
        #expect(Self.history(promoted) == .mayHaveGoneBack(.promoted))
        #expect(Self.history(promoted, known: now) == .whole)
        #expect(Self.history(promoted, known: now, isSynchronous: false) == .mayHaveGoneBack(.promoted))
        #expect(Self.history(promoted, known: now, hasAcknowledged: false) == .mayHaveGoneBack(.wentBack))
        #expect(Self.history(now, row: promoted) == .mayHaveGoneBack(.promoted))
    }

    @Test
    func `tables that were restored begin another epoch, once, and no tag comes again`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let saved = try await it.modify([save("a")])
        let before = try #require(saved[0].tag.flatMap { Int64($0, radix: 36) })
        let databases = try it.rows(DatabaseRow.self)
        let epochs = Dictionary(uniqueKeysWithValues: databases.map { ($0.number, $0.epoch) })
        await it.store.shutdown()
        // As a restored dump: what the store saw last is not what is there.
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        let connection = try PostgreSQLConnection(target)
        _ = try connection.query(
            SQL("UPDATE tidemark.cluster SET tables = tables + 1, timeline = timeline", reach: .store)
        )
        let restored = try await it.reopenedUnasked()
        let rows = try restored.rows(DatabaseRow.self)
        #expect(!rows.isEmpty && rows.allSatisfy { $0.epoch != epochs[$0.number] })
        let after = try #require(
            try await restored.modify([save("b")])[0].tag.flatMap { Int64($0, radix: 36) }
        )
        #expect(after > before + 1_000_000)
        let again = try await restored.reopenedUnasked()
        let same = try again.rows(DatabaseRow.self)
        #expect(same.map(\.epoch) == rows.map(\.epoch))
        #expect(try await again.wrongCounters() == [])
    }

    @Test
    func `a server that demands synchronous replication is refused by a single PostgreSQL server`() throws {
        let cluster = try PostgreSQLCluster.running()
        let target = try cluster.target(database: cluster.emptyDatabase())
        var configuration = PostgreSQLEngineConfiguration(
            target: target,
            role: .server(node: "n"),
            housekeeping: Housekeeping.maker()
        )
        configuration.isSynchronous = true
        #expect(throws: PostgreSQLEngineError.standbyMissing(target: target.text, isConfigured: false)) {
            try PostgreSQLEngine(configuration: configuration, clock: { 0 }, report: { _ in })
        }
    }
}
