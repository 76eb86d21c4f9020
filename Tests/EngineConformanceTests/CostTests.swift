import RecordModel
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// What one request may cost all others: work that can't be cut into turns has a bound.
@Suite(.timeLimit(.minutes(10)))
struct CostTests {
    // MARK: Index entries

    @Test(arguments: EngineKind.allCases)
    func `long lists in one request are refused as a whole, and go one by one`(kind: EngineKind) async throws
    {
        let it = try await Self.engine(kind) { $0.requestEntriesMax = 100 }
        let values = [
            FieldValue.int64List((0..<60).map { $0 }),
            .stringList((0..<60).map { "word\($0)" }),
            .referenceList((0..<60).map { Reference(recordName: "r\($0)", action: .none) }),
        ]
        for (number, value) in values.enumerated() {
            let saves = ["a", "b"].map { save("\($0)\(number)", ["f\(number)": value]) }
            await #expect(throws: StoreError.tooMuchWork(.indexEntries)) { try await it.modify(saves) }
            #expect(try await it.record(saves[0].id) == nil)
            for save in saves { #expect(try await it.modify([save]).areSaved) }
        }
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `what goes with replaced and deleted values counts, unless it is one item`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind) { $0.requestEntriesMax = 100 }
        let list = FieldValue.int64List((0..<90).map { $0 })
        let names = ["a", "b", "c"]
        for name in names { #expect(try await it.modify([save(name, ["f": list])]).areSaved) }
        let cleared = names.map { save($0, ["f": .emptyList]) }
        await #expect(throws: StoreError.tooMuchWork(.indexEntries)) {
            try await it.modify(cleared, policy: .changedKeys)
        }
        // Beside a save they can't go in turns.
        await #expect(throws: StoreError.tooMuchWork(.indexEntries)) {
            try await it.modify([save("d")], deletes: names.map { id($0) })
        }
        let other = FieldValue.int64List((100..<190).map { $0 })
        #expect(try await it.modify([save("a", ["f": other])], policy: .changedKeys).areSaved)
        for name in names { #expect(try await it.modify([], deletes: [id(name)]) == [.deleted]) }
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `four words of text count as one entry, and values without an index as none`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind) { $0.requestEntriesMax = 100 }
        func text(_ count: Int) -> FieldValue {
            .string((0..<count).map { "word\($0)" }.joined(separator: " "))
        }
        #expect(try await it.modify([save("a", ["text": text(360)])]).areSaved)
        await #expect(throws: StoreError.tooMuchWork(.indexEntries)) {
            try await it.modify([save("b", ["text": text(440)])])
        }
        // Bytes, and encrypted values, have no index.
        let plain = FieldValue.bytesList((0..<200).map { [UInt8($0)] })
        #expect(try await it.modify([save("c", ["plain": plain])]).areSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `a neighbour in the same commit is saved when a request is refused for its cost`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind) { $0.requestEntriesMax = 100 }
        let list = FieldValue.int64List((0..<200).map { $0 })
        let requests = [[save("a")], [save("dear", ["f": list])], [save("b")]].map {
            it.request(.modifyRecords(ModifyRecords(scope: .private, saves: $0)))
        }
        let results = await it.together(requests)
        #expect(try results[0].get().areSaved)
        #expect(results[1] == .failure(.tooMuchWork(.indexEntries)))
        #expect(try results[2].get().areSaved)
        #expect(try await it.record(id("dear")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `a job that exceeds a bound is executed once, and its neighbours are committed`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let executions = Mutex(0)
        let failures = Mutex<[JobFailure]>([])
        let (gate, held) = (Gate(), Gate())
        it.send([save("first")]) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let answers = Mutex(0)
            @Sendable func answered() {
                let count = answers.withLock { count in
                    count += 1
                    return count
                }
                if count == 3 { continuation.resume() }
            }
            it.send([save("a")]) { _ in answered() }
            it.store.engine.write(
                WriteJob(
                    requester: it.privately,
                    records: 1,
                    bytes: 100,
                    deadlineMilliseconds: .max,
                    origin: nil,
                    makesRoom: false,
                    takesTurn: false,
                    execute: { _ throws(StorageFailure) in
                        executions.withLock { $0 += 1 }
                        throw .exceeds(.indexEntries, work: 1)
                    },
                    fail: { failure in
                        failures.withLock { $0.append(failure) }
                        answered()
                    }
                )
            )
            it.send([save("b")]) { _ in answered() }
            gate.open()
        }
        #expect(executions.withLock { $0 } == 1)
        #expect(failures.withLock { $0 } == [.storage(.exceeds(.indexEntries, work: 1))])
        for name in ["a", "b"] { #expect(try await it.record(id(name)) != nil) }
    }

    // MARK: Deletes that take records along

    /// A tree, each of whose records has a long list; the root has none.
    private static func dearTree(_ count: Int) -> [RecordSave] {
        let list = FieldValue.int64List((0..<50).map { $0 })
        return (0..<count).map { number in
            let target = number < 4 ? "root" : "t\(number / 4)"
            return save("t\(number)", ["f": list, "d": reference(target, .deleteSelf)])
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a delete goes in turns by index entries, however few records it takes along`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind) { $0.cascadeEntriesMax = 120 }
        #expect(try await it.modify([save("root")] + Self.dearTree(40)).areSaved)
        let deletion = ModifyRecords(scope: .private, saves: [], deletes: [id("root")])
        let (order, result) = await Self.order(of: .modifyRecords(deletion), in: it)
        #expect(order == ["bob", "alice"])
        #expect(try result.get() == [.deleted])
        let left = try await it.fetch([id("root")] + Self.dearTree(40).map(\.id))
        #expect(left.allSatisfy { if case .record = $0 { false } else { true } })
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a circle that has too many index entries is refused, and goes when it is opened`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind) {
            $0.cascadeEntriesMax = 120
            $0.requestEntriesMax = 400
        }
        let list = FieldValue.int64List((0..<50).map { $0 })
        for number in 0..<12 {
            let target = number == 0 ? [:] : ["d": reference("c\(number - 1)", .deleteSelf)]
            #expect(try await it.modify([save("c\(number)", target.merging(["f": list]) { $1 })]).areSaved)
        }
        func close(_ value: FieldValue) async throws -> Bool {
            try await it.modify([save("c0", ["d": value])], policy: .changedKeys).areSaved
        }
        #expect(try await close(reference("c11", .deleteSelf)))
        await #expect(throws: StoreError.tooMuchWork(.indexEntries)) {
            try await it.modify([], deletes: [id("c5")])
        }
        for number in 0..<12 { #expect(try await it.record(id("c\(number)")) != nil) }
        #expect(try await close(.clear))
        #expect(try await it.modify([], deletes: [id("c0")]) == [.deleted])
        for number in 0..<12 { #expect(try await it.record(id("c\(number)")) == nil) }
    }

    @Test(arguments: EngineKind.allCases)
    func `400 ordinary records with 20 indexed fields are saved, changed and deleted`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        func saves(_ value: Int64) -> [RecordSave] {
            let fields = Dictionary(
                uniqueKeysWithValues: (0..<20).map { ("f\($0)", FieldValue.int64(value)) }
            )
            return (0..<400).map { save("r\($0)", fields) }
        }
        #expect(try await it.modify(saves(1)).areSaved)
        #expect(try await it.modify(saves(2), policy: .changedKeys).areSaved)
        let deletes = (0..<400).map { id("r\($0)") }
        #expect(try await it.modify([], deletes: deletes).allSatisfy { $0 == .deleted })
    }

    // MARK: Definitions, comparisons

    @Test(arguments: EngineKind.allCases)
    func `fields and types that one request adds have a bound`(kind: EngineKind) async throws {
        let it = try await Self.engine(kind) { $0.requestDefinitionsMax = 20 }
        func fields(_ count: Int) -> [String: FieldValue] {
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("f\($0)", .int64(1)) })
        }
        let saves = ["A", "B"].map { save("r\($0)", type: $0, fields(15)) }
        await #expect(throws: StoreError.tooMuchWork(.definitions)) { try await it.modify(saves) }
        for save in saves { #expect(try await it.modify([save]).areSaved) }
        // What is defined costs nothing.
        let more = (0..<30).map { save("more\($0)", type: "A", fields(15)) }
        #expect(try await it.modify(more).areSaved)
        // Zones of one request are counted together.
        _ = try await it.modifyZones(["other"])
        let other = ZoneID(zoneName: "other")
        await #expect(throws: StoreError.tooMuchWork(.definitions)) {
            try await it.modify([
                save("x", type: "C", fields(15)), save("y", in: other, type: "D", fields(15)),
            ])
        }
        #expect(try await it.record(id("x")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `comparisons of the subscriptions of one request have a bound`(kind: EngineKind) async throws {
        let it = try await Self.engine(kind) { $0.requestComparisonsMax = 20 }
        // Conditions are about fields that the type has.
        #expect(try await it.modify([save("a", ["title": .string("x")])]).areSaved)
        let saves = (0..<3).map { query("s\($0)", Self.condition($0, comparisons: 10)) }
        await #expect(throws: StoreError.tooMuchWork(.comparisons)) {
            try await it.modifySubscriptions(saves)
        }
        #expect(try await it.subscriptionIDs() == [])
        #expect(try await it.modifySubscriptions(Array(saves[..<2])).allSatisfy { $0.error == nil })
    }

    @Test(arguments: EngineKind.allCases)
    func `the subscriptions of a user have a bound of bytes together`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        #expect(try await it.modify([save("a", ["title": .string("x")])]).areSaved)
        func subscription(_ number: Int) -> RecordModel.Subscription {
            query("s\(number)", isText("title", String(repeating: "x", count: 16_000) + "\(number)"))
        }
        let outcomes = try await it.modifySubscriptions((0..<66).map(subscription))
        let kept = outcomes.prefix { $0.error == nil }.count
        #expect((64...65).contains(kept))
        #expect(outcomes[kept...].allSatisfy { $0 == .failed(.subscriptionLimit) })
        // Another definition in the place of one needs no more room.
        let other = query("s0", isText("title", String(repeating: "y", count: 16_000) + "0"))
        #expect(try await it.modifySubscriptions([other])[0].error == nil)
        _ = try await it.modifySubscriptions([], deletes: ["s1"])
        #expect(try await it.modifySubscriptions([subscription(100)])[0].error == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `an explanation ends at its bound of comparisons, and says so`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        #expect(try await it.modify([save("a", ["title": .string("x")])]).areSaved)
        for start in stride(from: 10, to: 40, by: 10) {
            let saves = (start..<start + 10).map { query("s\($0)", Self.condition($0, comparisons: 400)) }
            #expect(try await it.modifySubscriptions(saves).allSatisfy { $0.error == nil })
        }
        let explained = try await it.explanation(of: id("a"))
        #expect(explained.matches.map(\.subscriptionID) == (10..<35).map { "s\($0)" })
        #expect(explained.isTruncated)
        _ = try await it.modifySubscriptions([], deletes: (35..<40).map { "s\($0)" })
        #expect(try await !it.explanation(of: id("a")).isTruncated)
    }

    // MARK: Parts

    /// The order in which a request of Alice's and the save that Bob sends behind it end.
    static func order(
        of operation: WriteRequest.Operation,
        in it: EngineUnderTest
    ) async -> (order: [String], result: Result<[WriteOutcome], StoreError>) {
        let order = Mutex<[String]>([])
        let (gate, held) = (Gate(), Gate())
        let holder = ModifyRecords(scope: .private, saves: [save("holds the writer", in: .default)])
        it.store.write(it.request(.modifyRecords(holder))) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        let other = ModifyRecords(scope: .private, saves: [save("next", in: .default)])
        let result = await withCheckedContinuation { continuation in
            it.store.write(it.request(operation)) { result in
                order.withLock { $0.append("alice") }
                continuation.resume(returning: result)
            }
            it.store.write(it.request(.modifyRecords(other), by: it.bobPrivately)) { _ in
                order.withLock { $0.append("bob") }
            }
            gate.open()
        }
        return (order.withLock { $0 }, result)
    }

    static func engine(
        _ kind: EngineKind,
        _ change: (inout Bounds) -> Void
    ) async throws -> EngineUnderTest {
        try await EngineUnderTest.withNotes(kind) { change(&$0.bounds) }
    }

    private static func condition(_ number: Int, comparisons: Int) -> RecordModel.Predicate {
        .or((0..<comparisons).map { isText("title", "\(number) \($0)") })
    }
}
