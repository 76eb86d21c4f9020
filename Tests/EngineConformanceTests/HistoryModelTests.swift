import RecordModel
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// Random saves, deletes, undos, restarts and expiries, by an engine and by its own earlier states.
///
/// `SEED=… swift test --filter HistoryModelTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct HistoryModelTests {
    private static let rounds = 240

    @Test(arguments: EngineKind.modelCases)
    func `the state at every position is what it was, and an undo brings it back`(
        kind: EngineKind
    ) async throws {
        let generator = SeededGenerator.fromEnvironment()
        print("HistoryModelTests: SEED=\(generator.seed)")
        let it = try await EngineUnderTest.withNotes(kind)
        try it.keepHistory(days: 3)
        try await it.upload(file(0), file(1), file(2))
        _ = try await it.modify([save("holds", in: .default, ["l": .assetList((0..<3).map { file($0) })])])
        var run = Run(it: it, generator: generator)
        for round in 0..<kind.rounds(Self.rounds, divisor: 2) {
            let comment: Comment = "round \(round) of seed \(generator.seed)"
            let isChecked = round % 40 == 39
            try await run.step(comment, undoes: isChecked)
            if isChecked { try await run.check(comment) }
        }
    }

    private struct Run {
        var it: EngineUnderTest
        var generator: SeededGenerator
        /// The state of the zone after a change, by the position of the database then.
        var states: [Int64: ZoneState] = [:]

        private mutating func chance(_ count: Int) -> Int {
            Int.random(in: 0..<count, using: &self.generator)
        }

        private mutating func name() -> String { "r\(self.chance(10))" }

        private func position() async throws -> Int64 {
            try #require(try await self.it.history().extent()).position
        }

        private mutating func fields() -> [String: FieldValue] {
            var fields: [String: FieldValue] = [:]
            for field in ["x", "y", "z"] where self.chance(2) == 0 {
                fields[field] = self.chance(4) == 0 ? .clear : .int64(Int64(self.chance(1_000)))
            }
            if self.chance(3) == 0 { fields["f"] = .asset(file(self.chance(3))) }
            return fields
        }

        /// Makes a random change, or an undo for certain: rounds may be few.
        mutating func step(_ comment: Comment, undoes: Bool) async throws {
            switch undoes ? 2 : self.chance(20) {
            case 0:
                self.it = try await self.it.reopened()
            case 1: self.it.clock.advance(milliseconds: Int64(self.chance(40_000_000)))
            case 2...3: try await self.undo(comment)
            case 4...8:
                let names = Set([self.name(), self.name()]).sorted()
                _ = try await self.it.modify([], deletes: names.map { id($0) }, isAtomic: false)
            default:
                var saves: [RecordSave] = []
                for name in Set((0...self.chance(4)).map { _ in self.name() }).sorted() {
                    let parent: RecordSave.ParentChange =
                        switch self.chance(6) {
                        case 0: .set(recordName: self.name())
                        case 1: .removed
                        default: .unchanged
                        }
                    saves.append(save(name, self.fields(), parent: parent))
                }
                let policy: ModifyRecords.Policy = self.chance(2) == 0 ? .changedKeys : .allKeys
                _ = try await self.it.modify(saves, policy: policy, isAtomic: self.chance(2) == 0)
            }
            self.states[try await self.position()] = try await self.it.history().state()
        }

        private mutating func undo(_ comment: Comment) async throws {
            let since = try #require(try await self.it.history().extent()).since
            let known = self.states.keys.filter { $0 >= since }.sorted()
            // Before the first change there is none.
            guard !known.isEmpty else { return }
            let target = known[self.chance(known.count)]
            let undone = try await self.it.history().undo(to: .position(target))
            #expect(undone.errors == [], comment)
            let state = try await self.it.history().state()
            #expect(state == self.states[target], comment)
        }

        mutating func check(_ comment: Comment) async throws {
            let since = try #require(try await self.it.history().extent()).since
            for (position, state) in self.states where position >= since {
                #expect(try await self.it.history().state(at: position) == state, comment)
            }
            #expect(try await self.it.wrongUses() == [], comment)
            #expect(try await self.it.wrongCounters() == [], comment)
        }
    }
}
