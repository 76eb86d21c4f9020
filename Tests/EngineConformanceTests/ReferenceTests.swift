import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// References with an action, parents, and what a delete takes along (`Protocol/README.md`, section 5.5).
@Suite(.timeLimit(.minutes(10)))
struct ReferenceTests {
    @Test(arguments: EngineKind.allCases)
    func `a target must exist unless the action is none`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        #expect(try await it.modify([save("a", ["r": reference("x", .none)])])[0].isSaved)
        let missing = [WriteOutcome.failed(.referenceTargetMissing(recordName: "x"))]
        #expect(try await it.modify([save("b", ["r": reference("x", .deleteSelf)])]) == missing)
        #expect(try await it.modify([save("b", ["r": reference("x", .validate)])]) == missing)
        #expect(try await it.modify([save("b", parent: .set(recordName: "x"))]) == missing)
        let list = FieldValue.referenceList([Reference(recordName: "x", action: .validate)])
        #expect(try await it.modify([save("b", ["l": list])]) == missing)
    }

    @Test(arguments: EngineKind.allCases)
    func `in the public database nobody binds a record that they may not write`(kind: EngineKind) async throws
    {
        let it = try EngineUnderTest(kind)
        func save(_ name: String, _ fields: [String: FieldValue] = [:], parent: String? = nil) -> RecordSave {
            EngineConformance.save(
                name,
                in: .default,
                fields,
                parent: parent.map { .set(recordName: $0) } ?? .unchanged
            )
        }
        func errors(_ saves: [RecordSave], by requester: Requester) async throws -> [StoreError?] {
            try await it.modify(saves, policy: .changedKeys, by: requester).map(\.error)
        }
        #expect(try await errors([save("a"), save("root")], by: it.publicly) == [nil, nil])
        let refused = StoreError.referenceNotPermitted(target: "a")
        let list = FieldValue.referenceList([Reference(recordName: "a", action: .validate)])
        for binding in [
            save("b", ["r": reference("a", .validate)]), save("b", ["d": reference("a", .deleteSelf)]),
            save("b", ["l": list]), save("b", parent: "a"),
        ] {
            #expect(try await errors([binding], by: it.bobPublicly) == [refused])
            #expect(try await errors([binding, save("own")], by: it.bobPublicly) == [refused, nil])
        }
        // What depends on one that is refused is refused with it.
        let chain = [save("c", parent: "b"), save("b", ["r": reference("a", .validate)])]
        #expect(try await errors(chain, by: it.bobPublicly) == [.dependsOn(index: 1), refused])
        // A reference without an action binds nothing; one's own records, also new ones, are one's
        // own to bind.
        let mine = [
            save("b", ["n": reference("a", .none), "r": reference("own", .validate)], parent: "new"),
            save("new"),
        ]
        #expect(try await errors(mine, by: it.bobPublicly) == [nil, nil])
        #expect(try await errors([save("a2", ["r": reference("a", .validate)])], by: it.publicly) == [nil])
        // So their owner deletes them whenever they like.
        let deleted = try await it.modify([], deletes: [id("root", in: .default)], by: it.publicly)
        #expect(deleted == [.deleted])
        // A private database is its user's.
        #expect(try await it.modify([save("a"), save("b", parent: "a")]).areSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `a target may be saved in the same request, before or after`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let outcomes = try await it.modify([
            save("a", ["r": reference("b", .validate)]), save("b", ["r": reference("a", .deleteSelf)]),
            save("c", parent: .set(recordName: "d")), save("d"),
        ])
        #expect(outcomes.areSaved)
        // Parents go first in the order of changes, wherever they stand in the request.
        let parent = try #require(outcomes[3].tag.flatMap { Int64($0, radix: 36) })
        let child = try #require(outcomes[2].tag.flatMap { Int64($0, radix: 36) })
        #expect(parent < child)
        #expect(try await it.record(id("c"))?.parent == "d")
    }

    @Test(arguments: EngineKind.allCases)
    func `what needs a failed item depends on it`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let saves = [
            save("a", ["r": reference("b", .validate)]), save("b", parent: .set(recordName: "c")),
            save("c", tag: "stale"), save("d"),
        ]
        let expected: [WriteOutcome] = [
            .failed(.dependsOn(index: 1)), .failed(.dependsOn(index: 2)), .failed(.recordMissing),
        ]
        #expect(try await it.modify(saves, isAtomic: false).prefix(3) == expected[...])
        #expect(try await it.record(id("d")) != nil)
        let atomic = try await it.modify(saves.dropLast() + [save("e")])
        #expect(atomic == expected + [.failed(.atomicPeer(index: 2))])
    }

    @Test(arguments: EngineKind.allCases)
    func `a chain of saves fails with its last, whatever the order, but for what is there without them`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        func chain(_ names: Range<Int>) -> [RecordSave] {
            names.map { save("r\($0)", ["v": reference("r\($0 + 1)", .validate)]) }
        }
        let missing = StoreError.referenceTargetMissing(recordName: "r400")
        let outcomes = try await it.modify(chain(0..<400), isAtomic: false)
        #expect(outcomes.map(\.error) == (1..<400).map { .dependsOn(index: $0) } + [missing])
        let reversed = try await it.modify(Array(chain(0..<400).reversed()), isAtomic: false)
        #expect(reversed.map(\.error) == [missing] + (0..<399).map { .dependsOn(index: $0) })
        // A save that is refused leaves the record as it was, and that suffices for those that refer to it.
        _ = try await it.modify([save("r5")])
        let some = try await it.modify(chain(3..<400), policy: .changedKeys, isAtomic: false)
        let expected: [StoreError?] = [nil, nil] + (3..<397).map { .dependsOn(index: $0) } + [missing]
        #expect(some.map(\.error) == expected)
    }

    @Test(arguments: EngineKind.allCases)
    func `a chain of deletes is refused with its last, and executed when nothing keeps that`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let names = (0..<300).map { "r\($0)" }
        // Each keeps the one before it.
        let saves = names.enumerated().map { number, name in
            save(name, number == 0 ? [:] : ["v": reference(names[number - 1], .validate)])
        }
        _ = try await it.modify(saves + [save("stays", ["v": reference(names[299], .validate)])])
        let deletes = names.map { id($0) }
        let refused = try await it.modify([], deletes: deletes, isAtomic: false)
        let expected: [StoreError] =
            (1..<300).map { .dependsOn(index: $0) } + [.referenceWouldDangle(referrer: "stays")]
        #expect(refused.map(\.error) == expected)
        let outcomes = try await it.modify([], deletes: deletes + [id("stays")])
        #expect(outcomes.allSatisfy { $0 == .deleted })
    }

    @Test(arguments: EngineKind.allCases)
    func `a delete that fails in another zone keeps nothing of the same name`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["others"])
        let others = ZoneID(zoneName: "others")
        _ = try await it.modify([
            save("x"), save("stays", ["v": reference("x", .validate)]),
            save("y", in: others), save("x", in: others, ["v": reference("y", .validate)]),
        ])
        let outcomes = try await it.modify([], deletes: [id("x"), id("y", in: others)])
        #expect(
            outcomes.map(\.error) == [
                .referenceWouldDangle(referrer: "stays"), .referenceWouldDangle(referrer: "x"),
            ]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `a record that two deletes take along goes with the one that is left`(kind: EngineKind) async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        // "both" goes with "a" and with "b", and keeps "c"; "b" is kept.
        _ = try await it.modify([
            save("a"), save("b"), save("c"),
            save(
                "both",
                [
                    "d": reference("a", .deleteSelf), "e": reference("b", .deleteSelf),
                    "v": reference("c", .validate),
                ]
            ),
            save("stays", ["v": reference("b", .validate)]),
        ])
        let deletes = ["b", "c", "a"].map { id($0) }
        let outcomes = try await it.modify([], deletes: deletes, isAtomic: false)
        #expect(outcomes == [.failed(.referenceWouldDangle(referrer: "stays")), .deleted, .deleted])
        #expect(try await it.record(id("both")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `a reference to another zone is refused, one to its own by name is not`(
        kind: EngineKind
    )
        async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("x"), save("x", in: .default)])
        func toward(_ zone: ZoneID) -> FieldValue {
            .reference(Reference(recordName: "x", zone: zone, action: .none))
        }
        #expect(
            try await it.modify([save("a", ["r": toward(.default)])])
                == [.failed(.referenceCrossesZones(field: "r"))]
        )
        #expect(try await it.modify([save("a", ["r": toward(notes)])])[0].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `deleting takes along what refers with deleteSelf, through chains and circles`(
        kind: EngineKind
    )
        async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([
            save("a", ["r": reference("c", .deleteSelf)]), save("b", ["r": reference("a", .deleteSelf)]),
            save("c", ["r": reference("b", .deleteSelf)]), save("d", ["r": reference("b", .none)]),
            save("e", ["r": reference("c", .deleteSelf)], parent: .set(recordName: "c")),
        ])
        #expect(try await it.modify([], deletes: [id("a")]) == [.deleted])
        for name in ["a", "b", "c", "e"] { #expect(try await it.record(id(name)) == nil, "\(name)") }
        #expect(try await it.record(id("d")) != nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `a record that is needed stays until what needs it goes`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([
            save("p"), save("child", parent: .set(recordName: "p")),
            save("holder", ["r": reference("p", .validate)]),
        ])
        #expect(
            try await it.modify([], deletes: [id("p")]) == [.failed(.referenceWouldDangle(referrer: "child"))]
        )
        let both = try await it.modify([], deletes: [id("p"), id("child")])
        #expect(both == [.failed(.referenceWouldDangle(referrer: "holder")), .failed(.atomicPeer(index: 0))])
        let all = try await it.modify([], deletes: [id("p"), id("child"), id("holder")])
        #expect(all == [.deleted, .deleted, .deleted])
    }

    @Test(arguments: EngineKind.allCases)
    func `a reference that was replaced or cleared needs its target no more`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([
            save("x"), save("y"), save("p"),
            save("h", ["r": reference("x", .validate)], parent: .set(recordName: "p")),
        ])
        _ = try await it.modify([save("h", ["r": reference("y", .validate)])], policy: .changedKeys)
        #expect(try await it.modify([], deletes: [id("x")]) == [.deleted])
        _ = try await it.modify([save("h", ["r": .clear], parent: .removed)], policy: .changedKeys)
        #expect(try await it.modify([], deletes: [id("y"), id("p")]) == [.deleted, .deleted])
    }

    @Test(arguments: EngineKind.allCases)
    func `no record is its own ancestor`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let cycle = WriteOutcome.failed(.parentCycle)
        #expect(try await it.modify([save("a", parent: .set(recordName: "a"))]) == [cycle])
        let pair = [save("a", parent: .set(recordName: "b")), save("b", parent: .set(recordName: "a"))]
        #expect(try await it.modify(pair) == [cycle, cycle])
        _ = try await it.modify([save("a"), save("b", parent: .set(recordName: "a"))])
        _ = try await it.modify([save("c", parent: .set(recordName: "b"))])
        let closing = [save("a", parent: .set(recordName: "c"))]
        #expect(try await it.modify(closing, policy: .changedKeys) == [cycle])
    }

    @Test(arguments: EngineKind.allCases)
    func `a record has a hundred ancestors and not one more`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("r0")])
        let chain = (1...100).map { save("r\($0)", parent: .set(recordName: "r\($0 - 1)")) }
        #expect(try await it.modify(chain).areSaved)
        let deeper = try await it.modify([save("r101", parent: .set(recordName: "r100"))])
        #expect(deeper == [.failed(.parentTooDeep)])
    }

    @Test(arguments: EngineKind.allCases)
    func `a record has as many deleteSelf references as the limit and not one more`(
        kind: EngineKind
    )
        async throws
    {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.deleteSelfReferencesMax = 5 }
        func holder(_ number: Int) -> RecordSave { save("h\(number)", ["r": reference("x", .deleteSelf)]) }
        _ = try await it.modify([save("x")])
        #expect(try await it.modify((0..<3).map(holder)).areSaved)
        let batch = try await it.modify((3..<6).map(holder), isAtomic: false)
        #expect(batch.map(\.isSaved) == [true, true, false])
        #expect(batch[2] == .failed(.referenceLimit(target: "x")))
        #expect(try await it.modify([holder(0)], policy: .changedKeys)[0].isSaved)
        _ = try await it.modify([], deletes: [id("h0")])
        #expect(try await it.modify([holder(5)])[0].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `a delete takes along as many records as the limit and not one more`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.cascadeRecordsMax = 4 }
        func chain(_ name: String, _ count: Int) -> [RecordSave] {
            [save("\(name)0")]
                + (1..<count).map { save("\(name)\($0)", ["r": reference("\(name)\($0 - 1)", .deleteSelf)]) }
        }
        #expect(try await it.modify(chain("a", 4) + chain("b", 5)).areSaved)
        #expect(try await it.modify([], deletes: [id("a0")]) == [.deleted])
        #expect(try await it.record(id("a3")) == nil)
        #expect(try await it.modify([], deletes: [id("b0")]) == [.failed(.referenceLimit(target: "b0"))])
        // From the far end it goes in pieces.
        #expect(try await it.modify([], deletes: [id("b1")]) == [.deleted])
        #expect(try await it.modify([], deletes: [id("b0")]) == [.deleted])
    }

    @Test(arguments: EngineKind.allCases)
    func `who keeps a record counts for the limit of a delete`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.cascadeRecordsMax = 4 }
        func keeper(_ number: Int) -> RecordSave { save("k\(number)", parent: .set(recordName: "x")) }
        #expect(try await it.modify([save("x")] + (0..<3).map(keeper)).areSaved)
        let kept = WriteOutcome.failed(.referenceWouldDangle(referrer: "k0"))
        #expect(try await it.modify([], deletes: [id("x")]) == [kept])
        #expect(try await it.modify([keeper(3)]).areSaved)
        #expect(try await it.modify([], deletes: [id("x")]) == [.failed(.referenceLimit(target: "x"))])
    }

    @Test(arguments: EngineKind.allCases)
    func `a subtree that moves comes along whole, and nothing can be hung too deep`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.parentDepthMax = 3 }
        let chain = (1...2).map { save("r\($0)", parent: .set(recordName: "r\($0 - 1)")) }
        let subtree = [save("s0"), save("s1", parent: .set(recordName: "s0"))]
        #expect(try await it.modify([save("r0")] + chain + subtree).areSaved)
        let move = save("s0", parent: .set(recordName: "r2"))
        #expect(try await it.modify([move], policy: .changedKeys).areSaved)
        // The child has four ancestors by now: it can be changed, but not be given a child.
        let change = save("s1", ["n": .int64(1)])
        #expect(try await it.modify([change], policy: .changedKeys).areSaved)
        let deeper = try await it.modify([save("s2", parent: .set(recordName: "s1"))])
        #expect(deeper == [.failed(.parentTooDeep)])
        let again = try await it.modify([save("t", parent: .set(recordName: "s0"))])
        #expect(again == [.failed(.parentTooDeep)])
        let circle = save("r0", parent: .set(recordName: "s1"))
        #expect(try await it.modify([circle], policy: .changedKeys)[0].error != nil)
    }
}
