import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Requests that fail for a fault of ours, in the company of others (SQLite alone: each engine
/// breaks in its own way).
@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
    @Test(arguments: 0..<3)
    func `a request that meets a damaged record fails alone`(place: Int) async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("damaged"), save("old")])
        try await OtherProcess(folder: it.folder).execute(
            "UPDATE record SET type = 99 WHERE name = 'damaged'"
        )
        var requests = [[save("a")], [save("b")]]
        requests.insert([save("never"), save("damaged")], at: place)
        let commits = it.store.statistics.commits
        let outcomes = await it.together(requests)
        // One for the request that holds the writer, one for the three.
        #expect(it.store.statistics.commits == commits + 2)
        #expect(outcomes[place] == .failure(.internalFault))
        for other in 0..<3 where other != place { #expect(try outcomes[other].get().areSaved) }
        let last = try await it.reopened()
        for name in ["a", "b", "old"] { #expect(try await last.record(id(name)) != nil, "\(name)") }
        #expect(try await last.record(id("never")) == nil)
        #expect(try await last.modify([save("c")]).areSaved)
        #expect(try await ChangeOrder(in: last.folder).isWhole)
    }

    @Test(arguments: 0..<3)
    func `what a failed request wrote is taken back and forgotten, and no position comes twice`(
        place: Int
    ) async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        try await OtherProcess(folder: it.folder).execute(
            """
            CREATE TRIGGER refuses BEFORE INSERT ON record WHEN new.name = 'refused'
            BEGIN SELECT raise(ABORT, 'refused'); END
            """
        )
        var requests = [
            [save("a", type: "Fresh", ["f": .string("x")])], [save("b", type: "Fresh", ["f": .string("y")])],
        ]
        requests.insert([save("half", type: "Fresh", ["f": .int64(1)]), save("refused")], at: place)
        // The failing one may come after a neighbour has settled the type of its field: then it is
        // refused for that.
        if place > 0 { requests[place][0] = save("half", type: "Other", ["f": .int64(1)]) }
        let outcomes = await it.together(requests)
        #expect(outcomes[place] == .failure(.internalFault))
        for other in 0..<3 where other != place { #expect(try outcomes[other].get().areSaved) }
        let number = try await it.modify([save("c", type: "Other", ["f": .string("z")])])
        #expect(number.areSaved)
        #expect(try await it.record(id("half")) == nil)
        let count = try await OtherProcess(folder: it.folder).execute(
            """
            SELECT count(*) || ' ' || count(DISTINCT position) FROM record
            WHERE database = \(it.privately.database.rawValue)
            """
        )
        // The user's record, the one of the request that held the writer, and three.
        #expect(count == ["5 5"])
        let contents = try await IndexContents(of: OtherProcess(folder: it.folder))
        #expect(Set(contents.present) == contents.expected)
        #expect(try await ChangeOrder(in: it.folder).isWhole)
    }
}
