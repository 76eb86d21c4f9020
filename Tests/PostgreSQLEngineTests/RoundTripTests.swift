import PostgreSQLCluster
import RecordModel
import TestSupport
import Testing

@testable import EngineConformanceTests
@testable import PostgreSQLEngine
@testable import RecordStore

/// The round trips of each kind of request that comes alone: none may come back that was saved.
@Suite(.timeLimit(.minutes(5)))
struct RoundTripTests {
    private struct Kind: Sendable {
        let name: String
        let flights: Int
        let request: @Sendable (_ number: Int, EngineUnderTest) async throws -> Bool
    }

    private static let kinds = [
        Kind(name: "save", flights: 3) { number, it in
            try await it.modify([save("r\(number)", ["n": .int64(Int64(number))])]).areSaved
        },
        Kind(name: "save of ten", flights: 3) { number, it in
            let saves = (0..<10).map { save("ten \(number) \($0)", ["n": .int64(1)]) }
            return try await it.modify(saves).areSaved
        },
        Kind(name: "change", flights: 3) { number, it in
            let change = save("r1", ["n": .int64(Int64(1_000 + number))])
            return try await it.modify([change], policy: .allKeys).areSaved
        },
        Kind(name: "delete", flights: 4) { number, it in
            try await it.modify([], deletes: [id("ten \(number) 0")])[0].error == nil
        },
        Kind(name: "fetch", flights: 1) { _, it in
            try await it.fetch([id("r1"), id("r2")]).count == 2
        },
        Kind(name: "query", flights: 1) { _, it in
            let query = Query(recordType: "Note", predicate: NumberedNotes.equals("n", .int64(2)))
            return try await it.query(QueryRead(query: query, zone: notes)).records.count == 1
        },
        Kind(name: "changes of a zone", flights: 2) { _, it in
            try await it.changes(FeedRead(zone: notes, limit: 10)).items.count == 10
        },
        Kind(name: "zones", flights: 3) { _, it in
            try await it.zones().isEmpty == false
        },
    ]

    @Test
    func `each kind of request takes its round trips, and no more`() async throws {
        let directory = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        let proxy = try FlightProxy(to: cluster.folder, in: directory.path)
        defer { proxy.close() }
        let it = try await EngineUnderTest.withNotes(behind: proxy)
        for kind in Self.kinds {
            var flights: [Int] = []
            for number in 0..<12 {
                _ = proxy.takeFlights()
                let isAsExpected = try await kind.request(number, it)
                #expect(isAsExpected, "\(kind.name)")
                flights.append(proxy.takeFlights())
            }
            // The first ones prepare statements, and the server looks after itself once a second.
            #expect(flights.min() == kind.flights, "\(kind.name): \(flights)")
        }
        await it.store.shutdown()
    }
}
