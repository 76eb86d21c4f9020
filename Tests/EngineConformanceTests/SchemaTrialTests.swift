import RecordModel
import RecordStore
import Testing

@testable import EngineConformance

/// The judgement of saves that are not made, beside the outcomes of the same saves.
@Suite(.timeLimit(.minutes(10)))
struct SchemaTrialTests {
    private static let saves: [RecordSave] = [
        save("a", in: .default, ["s": .string("x"), "list": .emptyList]),
        save("b", in: .default, ["s": .int64(1)]),
        save("c", in: .default, ["n": .int64(1), "list": .stringList(["x"])]),
        save("d", in: .default, ["n": .double(1)]),
        save("e", in: .default, ["list": .int64List([1])]),
        save("f", in: .default, type: "Other", ["s": .int64(1)]),
        save("g", in: .default, type: "Other", ["s": .string("x"), "new": .int64(1)]),
        save("h", in: .default, type: "Other", ["new": .string("x")]),
        save("i", in: .default, ["list": .emptyList]),
        save("j", in: .default, type: "Third"),
    ]

    @Test(arguments: EngineKind.allCases)
    func `what the schema refuses is known without a save`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let container = EngineUnderTest.container
        let production = try it.requester(in: .production)
        // Nothing is there, then what the saves of development defined, then that in production.
        for (requester, deploys) in [(it.privately, false), (production, false), (production, true)] {
            if deploys { _ = try it.store.schemas.apply(.deploy, inContainer: container) }
            var trial = SchemaTrial(it.store.schemas, for: requester)
            let foretold = try Self.saves.map { try trial.refusal(of: $0) }
            let outcomes = try await it.modify(Self.saves, policy: .allKeys, isAtomic: false, by: requester)
            #expect(foretold == outcomes.map(\.error))
            #expect(foretold.contains { $0 != nil })
        }
        await it.store.shutdown()
    }
}
