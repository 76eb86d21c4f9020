import RecordModel
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// A clock that says what no clock should say.
@Suite(.timeLimit(.minutes(10)))
struct ClockTests {
    /// 1970, beyond the year 2262, in which nanoseconds since 1970 end, and far beyond that.
    private static let times: [Int64] = [1_000_000, 9_300_000_000_000, 1 << 47]

    @Test(arguments: EngineKind.allCases)
    func `no clock ends a store, however it jumps`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.quotas.userBytes = 10_000_000 }
        for (index, time) in (Self.times + Self.times.reversed()).enumerated() {
            it.clock.advance(milliseconds: time - it.clock.milliseconds)
            let (name, asset) = ("r\(index)", file(index))
            try await it.upload(asset)
            #expect(try await it.modify([save(name, ["f": .asset(asset)])]).areSaved)
            #expect(try await it.record(id(name)) != nil)
            _ = try await it.modify([], deletes: [id(name)])
            let going = try await it.removals(isPressed: true)
            try await it.removed(going)
            #expect(try await it.record(id(name)) == nil)
        }
    }
}
