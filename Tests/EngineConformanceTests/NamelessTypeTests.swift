import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Record types without a name: none is declared.
@Suite(.timeLimit(.minutes(10)))
struct NamelessTypeTests {
    @Test(arguments: EngineKind.allCases)
    func `a save without a record type is refused wherever it is, and declares nothing`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("list")])
        let share = try await it.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, .readWrite)]
        }
        try await it.join(share, by: it.bobShared)
        let refused = StoreError.nameInvalid(.recordType)
        for (zone, requester) in [
            (notes, it.privately), (.default, it.privately), (.default, it.publicly),
            (aliceNotes, it.bobShared),
        ] {
            let nameless = save(
                "x",
                in: zone,
                type: "",
                parent: zone == aliceNotes ? .set(recordName: "list") : .unchanged
            )
            let first = try await it.modify([nameless], by: requester)
            #expect(first.map(\.error) == [refused], "\(zone) \(requester.scope)")
            let named = save("y\(requester.scope)", in: zone, parent: nameless.parent)
            let second = try await it.modify([named, nameless], isAtomic: false, by: requester)
            #expect(second.map(\.error) == [nil, refused], "\(zone) \(requester.scope)")
        }
        let schema = try it.store.schemas.schema(
            ofContainer: EngineUnderTest.container,
            environment: .development
        )
        #expect(schema.recordTypes.map(\.name) == ["Note", "Users"])
    }
}
