import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// The rows of the table in `Protocol/README.md`, section 5.2, and what a save does to fields.
@Suite(.timeLimit(.minutes(10)))
struct SaveTableTests {
    @Test(arguments: EngineKind.allCases)
    func `a new record is created and read back with what the server knows about it`(
        kind: EngineKind
    )
        async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        let outcomes = try await it.modify([save("a", ["title": .string("one")])])
        let record = try #require(try await it.record(id("a")))
        let position = try #require(Int64(record.changeTag, radix: 36))
        #expect(outcomes == [.recordSaved(position: position, system: record.system)])
        #expect(record["title"] == .string("one"))
        #expect(record.recordType == "Note")
        #expect(record.system.createdBy == EngineUnderTest.alice)
        #expect(record.system.modifiedBy == EngineUnderTest.alice)
        #expect(record.system.createdMilliseconds == it.clock.milliseconds)
    }

    @Test(arguments: EngineKind.allCases)
    func `without a tag a record that exists is a conflict with the whole record`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["title": .string("one")])])
        let record = try #require(try await it.record(id("a")))
        let outcomes = try await it.modify([save("a", ["title": .string("two")])])
        #expect(outcomes == [.failed(.recordExists(record))])
        #expect(try await it.record(id("a")) == record)
    }

    @Test(arguments: EngineKind.allCases)
    func `conflicts carry as many records as an answer holds, and the others say so`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.responseBytesMax = 2_500 }
        _ = try await it.modifyZones(["others"])
        let others = ZoneID(zoneName: "others")
        let text = FieldValue.string(String(repeating: "x", count: 1_000))
        let names = [id("a"), id("b"), id("c", in: others), id("d", in: others)]
        let saves = names.map { save($0.recordName, in: $0.zone, ["title": text]) }
        #expect(try await it.modify(saves).areSaved)
        let records = try await [it.record(names[0]), it.record(names[1])].compactMap(\.self)
        let full = StoreError.responseTooLarge(bytes: records[0].body.bytes.count * 3)
        let request = it.newRequestID()
        // The same whether or not the zones are judged twice.
        for deletes in [[], [id("none")]] {
            let outcomes = try await it.modify(
                saves + [save("new \(deletes.count)")],
                deletes: deletes,
                isAtomic: false,
                id: deletes.isEmpty ? request : nil
            )
            #expect(outcomes.prefix(4).map(\.error) == records.map { .recordExists($0) } + [full, full])
            #expect(outcomes.dropFirst(4).allSatisfy { $0.error == nil })
        }
        let replay = try await it.modify(saves + [save("new 0")], isAtomic: false, id: request)
        #expect(replay.prefix(4).map(\.error) == records.map { .recordExists($0) } + [full, full])
        let rest = try await it.modify(Array(saves.dropFirst(2)), isAtomic: false)
        for outcome in rest {
            guard case .recordExists? = outcome.error else {
                Issue.record("\(outcome)")
                continue
            }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `with the current tag a record is updated and keeps what was not sent`(kind: EngineKind) async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        let first = try await it.modify([save("a", ["title": .string("one"), "count": .int64(1)])])
        it.clock.advance(milliseconds: 5)
        let second = try await it.modify([save("a", tag: first[0].tag, ["count": .int64(2)])])
        #expect(second[0].isSaved)
        #expect(second[0].tag != first[0].tag)
        let record = try #require(try await it.record(id("a")))
        #expect(record["title"] == .string("one"))
        #expect(record["count"] == .int64(2))
        #expect(record.system.modifiedMilliseconds == record.system.createdMilliseconds + 5)
        #expect(record.changeTag == second[0].tag)
    }

    @Test(arguments: EngineKind.allCases)
    func `another tag is a conflict with the whole record`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let first = try await it.modify([save("a", ["count": .int64(1)])])
        _ = try await it.modify([save("a", tag: first[0].tag, ["count": .int64(2)])])
        let record = try #require(try await it.record(id("a")))
        for stale in [first[0].tag!, "", "zzz"] {
            let outcomes = try await it.modify([save("a", tag: stale, ["count": .int64(3)])])
            #expect(outcomes == [.failed(.changeTagStale(record))])
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a tag for what is absent says that the record is missing`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        #expect(try await it.modify([save("a", tag: "1")]) == [.failed(.recordMissing)])
    }

    @Test(arguments: EngineKind.allCases)
    func `in a zone that is absent every item fails`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let nowhere = ZoneID(zoneName: "nowhere")
        let outcomes = try await it.modify([save("a", in: nowhere)], deletes: [id("b", in: nowhere)])
        #expect(outcomes == [.failed(.zoneMissing), .failed(.zoneMissing)])
    }

    @Test(arguments: [ModifyRecords.Policy.changedKeys, .allKeys])
    func `the other policies look at no tag and create what is absent`(
        policy: ModifyRecords.Policy
    )
        async throws
    {
        for kind in EngineKind.allCases {
            let it = try await EngineUnderTest.withNotes(kind)
            let saves = [save("a", tag: "stale", ["count": .int64(1)])]
            #expect(try await it.modify(saves, policy: policy)[0].isSaved)
            let again = [save("a", tag: "staler", ["title": .string("x")])]
            #expect(try await it.modify(again, policy: policy)[0].isSaved)
            let record = try #require(try await it.record(id("a")))
            #expect(record["count"] == .int64(1))
            #expect(record["title"] == .string("x"))
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a save without fields gives a new tag, and clear removes a field`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let first = try await it.modify([save("a", ["title": .string("x")])])
        let second = try await it.modify([save("a", tag: first[0].tag)])
        #expect(second[0].tag != first[0].tag)
        #expect(try await it.record(id("a"))?["title"] == .string("x"))
        #expect(try await it.modify([save("a", tag: second[0].tag, ["title": .clear])])[0].isSaved)
        #expect(try await it.record(id("a"))?.body.isEmpty == true)
    }

    @Test(arguments: EngineKind.allCases)
    func `a record keeps its type`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let first = try await it.modify([save("a")])
        let outcomes = try await it.modify([save("a", type: "Other", tag: first[0].tag)])
        #expect(outcomes == [.failed(.recordTypeMismatch(existing: "Note"))])
    }

    @Test(arguments: EngineKind.allCases)
    func `names are checked at their bounds`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let longest = String(repeating: "n", count: 255)
        #expect(try await it.modify([save(longest, type: longest)])[0].isSaved)
        #expect(try await it.modify([save(longest + "n")]) == [.failed(.nameInvalid(.record))])
        #expect(try await it.modify([save("_a")]) == [.failed(.nameInvalid(.record))])
        #expect(try await it.modify([save("")]) == [.failed(.nameInvalid(.record))])
        #expect(try await it.modify([save("a", type: "1st")]) == [.failed(.nameInvalid(.recordType))])
        #expect(
            try await it.modify([save("a", type: longest + "n")]) == [.failed(.nameInvalid(.recordType))]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `a record may be as large as the limit and not a byte larger`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.recordBytesMax = 1_000 }
        let overhead =
            RecordBody([Field(name: "b", value: .bytes([UInt8](repeating: 0, count: 900)))]).bytes.count - 900
        let fits = [UInt8](repeating: 1, count: 1_000 - overhead)
        #expect(try await it.modify([save("a", ["b": .bytes(fits)])])[0].isSaved)
        let outcomes = try await it.modify([save("c", ["b": .bytes(fits + [1])])])
        #expect(outcomes == [.failed(.recordTooLarge(bytes: 1_001))])
        // What counts is the record after the merge.
        let merged = try await it.modify([save("a", ["x": .int64(1)])], policy: .changedKeys)
        #expect(merged == [.failed(.recordTooLarge(bytes: 1_007))])
    }

    @Test(arguments: EngineKind.allCases)
    func `a body that the codec refused fails its item`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        var broken = save("a")
        broken.changesError = .malformed
        let outcomes = try await it.modify([broken, save("b")], isAtomic: false)
        #expect(outcomes[0] == .failed(.fieldMalformed(.malformed)))
        #expect(outcomes[1].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `deleting is idempotent, and what was deleted can be created again`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let first = try await it.modify([save("a")])
        #expect(try await it.modify([], deletes: [id("a")]) == [.deleted])
        #expect(try await it.record(id("a")) == nil)
        #expect(try await it.fetch([id("a")]) == [.failed(.recordMissing)])
        #expect(try await it.modify([], deletes: [id("a")]) == [.deleted])
        let again = try await it.modify([save("a")])
        #expect(again[0].isSaved)
        #expect(again[0].tag != first[0].tag)
        #expect(try await it.modify([], deletes: [id("a")]) == [.deleted])
    }

    @Test(arguments: EngineKind.allCases)
    func `tags of one database ascend from change to change`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        var last: Int64 = 0
        for round in 0..<20 {
            let saves = (0..<3).map { save("r\($0)", ["n": .int64(Int64(round))]) }
            for outcome in try await it.modify(saves, policy: .changedKeys) {
                let position = try #require(outcome.tag.flatMap { Int64($0, radix: 36) })
                #expect(position > last)
                last = position
            }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `desired keys cut the body and leave the system fields`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["one": .int64(1), "two": .int64(2)])])
        let whole = try #require(try await it.record(id("a")))
        for (keys, expected) in [(["two", "other"], ["two"]), ([], [])] {
            guard case .record(let record) = try await it.fetch([id("a")], desiredKeys: keys)[0] else {
                Issue.record("the record is there")
                continue
            }
            #expect(record.body.fields.map(\.name) == expected)
            #expect(record.changeTag == whole.changeTag)
            #expect(record.system == whole.system)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `an answer may be as large as the limit and not a byte larger`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.responseBytesMax = 2_000 }
        let saves = ["a", "b"].map { save($0, ["b": .bytes([UInt8](repeating: 1, count: 900))]) }
        _ = try await it.modify(saves)
        #expect(try await it.fetch([id("a"), id("b")]).count == 2)
        let many = (0..<20).map { id($0 % 2 == 0 ? "a" : "b") }
        let size = try #require(try await it.record(id("a"))).body.bytes.count
        await #expect(throws: StoreError.responseTooLarge(bytes: size * 3)) { _ = try await it.fetch(many) }
        #expect(try await it.fetch(many, desiredKeys: []).count == 20)
    }
}
