import PostgreSQLCluster
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine

/// The order of changes as its table has it.
///
/// A feed skips rows of earlier positions, so that it alone does not show them.
@Suite(.timeLimit(.minutes(10)))
struct ChangeTableTests {
    @Test
    func `the order of changes has one row for each record, at its last position`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let names = ["a", "b", "c", "d", "e", "f"]
        var positions: [String: Int64] = [:]
        func take(_ outcomes: [WriteOutcome], of names: [String]) throws {
            for (name, outcome) in zip(names, outcomes) {
                positions[name] = Int64(try #require(outcome.tag), radix: 36)
            }
        }
        try take(try await it.modify(names.map { save($0) }), of: names)
        let token = try await it.token(of: notes)
        for round in 0..<4 {
            for name in names {
                let outcomes = try await it.modify(
                    [save(name, ["n": .int64(Int64(round))])],
                    policy: .changedKeys
                )
                try take(outcomes, of: [name])
                #expect(try Self.rows(it) == Self.expected(positions))
            }
            let some = Array(names.dropFirst(round))
            let outcomes = try await it.modify(
                some.map { save($0, ["n": .int64(Int64(-round))]) },
                policy: .changedKeys
            )
            try take(outcomes, of: some)
            #expect(try Self.rows(it) == Self.expected(positions))
        }
        // The row of one that goes, in one statement with that of one that comes.
        let outcomes = try await it.modify([save("g")], deletes: [id("a")])
        try take([outcomes[0]], of: ["g"])
        _ = try await it.modify([], deletes: [id("b")])
        _ = try await it.modify([], deletes: [id("c"), id("d")])
        for name in ["a", "b", "c", "d"] { positions[name] = nil }
        #expect(try Self.rows(it) == Self.expected(positions))
        for limit in [1, 3, 1_000] {
            let items = try await it.all(after: token, limit: limit).items
            #expect(items.sorted() == ["-a", "-b", "-c", "-d", "e", "f", "g"])
        }
    }

    private static func expected(_ positions: [String: Int64]) -> [String] {
        positions.sorted { $0.value < $1.value }.map { "\($0.value) \($0.key)" }
    }

    private static func rows(_ it: EngineUnderTest) throws -> [String] {
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        let rows = try PostgreSQLConnection(target).query(
            SQL(
                """
                SELECT c.position, coalesce(r.name, 'no record') FROM tidemark.change AS c
                JOIN tidemark."zone" AS z ON z.database = c.database AND z.number = c.zone
                LEFT JOIN tidemark.record AS r
                    ON r.database = c.database AND r.zone = c.zone AND r.number = c.record
                WHERE z.name = 'notes' ORDER BY c.position
                """,
                reach: .store
            )
        )
        return (0..<rows.count).map { "\(rows.integer($0, 0)) \(rows.text($0, 1))" }
    }
}
