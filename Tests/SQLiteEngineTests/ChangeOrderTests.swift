import RecordModel
import RecordStore
import SQLiteEngine
import TestSupport
import Testing

@testable import EngineConformance

/// Where feeds will find what changed in a zone after a position, in order.
@Suite(.timeLimit(.minutes(10)))
struct ChangeOrderTests {
    @Test
    func `the order has every record at its last change, whatever became of it before`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        var generator = SeededGenerator(seed: 3)
        for round in 0..<30 {
            let names = (0..<150).shuffled(using: &generator).prefix(round % 3 == 0 ? 140 : 9)
            let (saved, deleted) = (names.dropFirst(3), names.prefix(3))
            let zone: ZoneID = round % 5 == 0 ? .default : notes
            let outcomes = try await it.modify(
                saved.map { save("r\($0)", in: zone) },
                deletes: deleted.map { id("r\($0)", in: zone) },
                policy: .allKeys
            )
            #expect(outcomes.allSatisfy { $0.error == nil })
        }
        // Of 1,490 entries most are of earlier changes, as far as housekeeping has left them.
        let order = try await ChangeOrder(in: it.folder)
        #expect(order.isWhole)
        // 137 at a time take three rows, not 137.
        #expect(order.blocks < 100)
    }

    @Test
    func `a record that changes twice in one transaction is in the order once`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("twice"), save("gone")])
        let requests = [[save("a"), save("twice")], [save("twice"), save("b")], [save("twice")]]
        for outcome in await it.together(requests, policy: .allKeys) {
            #expect(try outcome.get().areSaved)
        }
        let order = try await ChangeOrder(in: it.folder)
        #expect(order.isWhole)
        // The position that "twice" had first, unless the first round after the start took it out.
        #expect(order.stale.count <= 1)
    }

    @Test
    func `what is stale is taken out once there is enough of it, and small blocks are joined`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        var generator = SeededGenerator(seed: 4)
        for name in 0..<100 { _ = try await it.modify([save("r\(name)")]) }
        #expect(try await ChangeOrder(in: it.folder).blocks > 100)
        repeat {
            // Each change leaves some entries of the blocks before, which get small and are joined.
            for _ in 0..<10 {
                let names = (10..<400).shuffled(using: &generator).prefix(250)
                _ = try await it.modify(names.map { save("r\($0)") }, policy: .allKeys)
            }
        } while try await OtherProcess(folder: it.folder).count("stale_change") > 0
        let order = try await ChangeOrder(in: it.folder)
        #expect(order.isWhole)
        #expect(order.changes.count == order.records.count)
        #expect(order.blocks < 30)
    }

    @Test
    func `what was stale when an engine stopped is taken out by the next one`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        // The round with which an engine begins may come after the first of them.
        repeat {
            _ = try await it.modify((0..<9).map { save("r\($0)") }, policy: .allKeys)
        } while try await ChangeOrder(in: it.folder).stale.count < 18
        let next = try await it.reopened()
        while try await OtherProcess(folder: next.folder).count("stale_change") > 0 {}
        let order = try await ChangeOrder(in: next.folder)
        #expect(order.isWhole)
        #expect(order.changes.count == order.records.count)
    }

    @Test
    func `two engines on the same files keep one order`() async throws {
        let one = try await EngineUnderTest.withNotes(.sqlite)
        let two = try one.beside()
        for round in 0..<40 {
            let names = (0..<400).filter { ($0 + round) % 3 != 0 }
            let engine = round % 2 == 0 ? one : two
            _ = try await engine.modify(names.map { save("r\($0)") }, policy: .allKeys)
        }
        #expect(try await ChangeOrder(in: one.folder).isWhole)
    }
}
