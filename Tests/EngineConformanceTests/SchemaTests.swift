import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// The first save of a field settles its type for the environment.
@Suite(.timeLimit(.minutes(10)))
struct SchemaTests {
    @Test(arguments: EngineKind.allCases)
    func `a field keeps its type in all zones, databases and users of the environment`(
        kind: EngineKind
    )
        async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["x": .int64(1)])])
        let contradiction = WriteOutcome.failed(
            .fieldTypeMismatch(recordType: "Note", field: "x", given: .double, defined: .int64)
        )
        #expect(try await it.modify([save("b", ["x": .double(1)])]) == [contradiction])
        let elsewhere = [save("b", in: .default, ["x": .double(1)])]
        #expect(try await it.modify(elsewhere, by: it.bobPrivately) == [contradiction])
        #expect(try await it.modify(elsewhere, by: it.publicly) == [contradiction])
        #expect(try await it.modify([save("c", type: "Other", ["x": .double(1)])])[0].isSaved)
        #expect(try await it.modify([save("b", ["x": .int64(7)])])[0].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `definitions survive a restart, those of refused saves do not exist`(kind: EngineKind) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["x": .int64(1)])])
        _ = try await it.modify([save("b", ["y": .int64(1)]), save("c", tag: "stale")])
        it = try await it.reopened()
        #expect(try await it.modify([save("b", ["x": .string("")])])[0].error != nil)
        #expect(try await it.modify([save("b", ["y": .string("")])])[0].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `within a request the earlier item defines and the later contradicts`(kind: EngineKind) async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        let outcomes = try await it.modify(
            [save("a", ["x": .int64(1)]), save("b", ["x": .string("")]), save("c", ["x": .int64(2)])],
            isAtomic: false
        )
        #expect(outcomes.map(\.isSaved) == [true, false, true])
        #expect(
            outcomes[1]
                == .failed(
                    .fieldTypeMismatch(recordType: "Note", field: "x", given: .string, defined: .int64)
                )
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `a field is defined by a later item when the earlier one is refused after all`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let outcomes = try await it.modify(
            [
                save("a", ["x": .int64(1)], parent: .set(recordName: "absent")),
                save("b", ["x": .int64(2)]),
            ],
            isAtomic: false
        )
        #expect(outcomes.map(\.isSaved) == [false, true])
        let contradiction = StoreError.fieldTypeMismatch(
            recordType: "Note",
            field: "x",
            given: .string,
            defined: .int64
        )
        #expect(try await it.modify([save("c", ["x": .string("")])])[0].error == contradiction)
    }

    @Test(arguments: EngineKind.allCases)
    func `an empty list agrees with every list type and defines none`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        #expect(try await it.modify([save("a", ["x": .emptyList])])[0].isSaved)
        #expect(try await it.modify([save("b", ["x": .stringList(["s"])])])[0].isSaved)
        #expect(try await it.modify([save("c", ["x": .emptyList])])[0].isSaved)
        #expect(try await it.modify([save("d", ["x": .int64List([1])])])[0].error != nil)
        _ = try await it.modify([save("e", ["single": .string("s")])])
        #expect(
            try await it.modify([save("f", ["single": .emptyList])])
                == [
                    .failed(
                        .fieldTypeMismatch(
                            recordType: "Note",
                            field: "single",
                            given: .emptyList,
                            defined: .string
                        )
                    )
                ]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `a field is plain or encrypted for ever`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        func secret(_ name: String, _ value: FieldValue, in zone: ZoneID = notes) -> RecordSave {
            var save = save(name, in: zone)
            save.changes = RecordBody([Field(name: "x", value: value, isEncrypted: true)])
            return save
        }
        #expect(try await it.modify([secret("a", .int64(1))])[0].isSaved)
        let plain = try await it.modify([save("b", ["x": .int64(1)])])
        #expect(plain == [.failed(.fieldEncryptionMismatch(field: "x"))])
        let refused = WriteOutcome.failed(.fieldEncryptionNotAllowed(field: "x"))
        #expect(try await it.modify([secret("c", .emptyList)]) == [refused])
        #expect(try await it.modify([secret("c", reference("a", .none))]) == [refused])
        #expect(try await it.modify([secret("c", .int64(1), in: .default)], by: it.publicly) == [refused])
    }
}
