import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// Requests that wait for the engine are executed in turns by user, whatever one of them asks for
/// (`Sources/RecordServer/OVERLOAD.md`).
@Suite(.timeLimit(.minutes(10)))
struct TurnTests {
    /// An engine with one thread for queries and one for other reads, and a clock that the test turns.
    private static func engine(
        _ kind: EngineKind,
        configure: (inout EngineSettings) -> Void = { _ in }
    ) async throws -> (EngineUnderTest, ManualClock) {
        let time = ManualClock(milliseconds: 0)
        let it = try await EngineUnderTest.withNotes(kind) { settings in
            settings.readThreads = 1
            settings.inlineQueryCostMax = 0
            settings.time = time
            configure(&settings)
        }
        _ = try await it.modify([save("a")])
        _ = try await it.modify([save("b", in: .default)], by: it.bobPrivately)
        return (it, time)
    }

    /// Holds the thread that queries in the answer to a query of Alice's, until the gate is opened.
    private static func hold(_ it: EngineUnderTest, until gate: Gate) {
        let held = Gate()
        self.count(it, by: it.privately) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
    }

    /// A query, which no caller's thread attempts.
    private static func count(
        _ it: EngineUnderTest,
        by requester: Requester,
        _ reply: @escaping @Sendable (Result<QueryPageResult, StoreError>) -> Void
    ) {
        let read = QueryRead(query: Query(recordType: "Note"), isCount: true)
        it.store.query(read, for: requester, into: KeptRecords(), reply: reply)
    }

    @Test(arguments: EngineKind.allCases)
    func `a user's read goes before the second of another's flood`(kind: EngineKind) async throws {
        let (it, time) = try await Self.engine(kind)
        let gate = Gate()
        Self.hold(it, until: gate)
        let order = Mutex<[String]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func answered(_ who: String) {
                let count = order.withLock { order in
                    order.append(who)
                    return order.count
                }
                if count == 21 { continuation.resume() }
            }
            for _ in 0..<20 { Self.count(it, by: it.privately) { _ in answered("alice") } }
            Self.count(it, by: it.bobPrivately) { _ in answered("bob") }
            // What is held took a second.
            time.advance(milliseconds: 1_000)
            gate.open()
        }
        #expect(order.withLock { $0.first } == "bob")
    }

    @Test(arguments: EngineKind.allCases)
    func `changes are read while every thread for queries is busy`(kind: EngineKind) async throws {
        let (it, _) = try await Self.engine(kind)
        let gate = Gate()
        Self.hold(it, until: gate)
        defer { gate.open() }
        let page = try await it.changes(FeedRead(zone: .default), by: it.bobPrivately)
        #expect(!page.items.isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `a read whose deadline passes while it waits is not executed`(kind: EngineKind) async throws {
        let (it, _) = try await Self.engine(kind)
        let gate = Gate()
        Self.hold(it, until: gate)
        var hurried = it.privately
        hurried.deadlineMilliseconds = it.clock.milliseconds + 10
        var patient = it.privately
        patient.deadlineMilliseconds = it.clock.milliseconds + 11
        let results = Mutex<[Result<Int64, StoreError>]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            for requester in [hurried, patient] {
                Self.count(it, by: requester) { result in
                    let count = results.withLock { results in
                        results.append(result.map(\.count))
                        return results.count
                    }
                    if count == 2 { continuation.resume() }
                }
            }
            it.clock.advance(milliseconds: 11)
            gate.open()
        }
        #expect(results.withLock { $0 } == [.failure(.deadlinePassed), .success(1)])
    }

    @Test(arguments: EngineKind.allCases)
    func `the flood of one user is refused, and the reads of others are not`(kind: EngineKind) async throws {
        let (it, time) = try await Self.engine(kind) { $0.readerWaitNanoseconds = 1 }
        // What tells the rule how long reads take.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Self.count(it, by: it.privately) { _ in continuation.resume() }
        }
        let gate = Gate()
        Self.hold(it, until: gate)
        let refused = Mutex<[String: Int]>([:])
        let answered = Mutex<[String: Int]>([:])
        func ask(_ who: String, _ requester: Requester, times: Int) {
            for _ in 0..<times {
                Self.count(it, by: requester) { result in
                    if case .failure(.overloaded) = result {
                        refused.withLock { $0[who, default: 0] += 1 }
                    } else {
                        answered.withLock { $0[who, default: 0] += 1 }
                    }
                }
            }
        }
        ask("alice", it.privately, times: 100)
        time.advance(milliseconds: 100)
        ask("alice", it.privately, times: 100)
        ask("bob", it.bobPrivately, times: 30)
        #expect(refused.withLock { $0 } == ["alice": 100])
        gate.open()
        await it.store.shutdown()
        while answered.withLock({ $0 }) != ["alice": 100, "bob": 30] {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a user's change is in the next commit, beside a turn of another's batches`(
        kind: EngineKind
    ) async throws {
        let (it, _) = try await Self.engine(kind)
        let gate = Gate()
        let held = Gate()
        it.send([save("first")]) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        let order = Mutex<[String]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func answered(_ who: String) {
                let count = order.withLock { order in
                    order.append(who)
                    return order.count
                }
                if count == 8 { continuation.resume() }
            }
            for number in 0..<6 {
                it.send([save("large \(number)")], bytes: 1_000_000) { _ in answered("alice \(number)") }
            }
            for (name, who) in [("x", "bob"), ("y", "bob again")] {
                let operation = ModifyRecords(scope: .private, saves: [save(name, in: .default)])
                let request = it.request(.modifyRecords(operation), by: it.bobPrivately)
                it.store.write(request) { _ in answered(who) }
            }
            gate.open()
        }
        #expect(
            order.withLock { $0 } == [
                "alice 0", "bob", "bob again", "alice 1", "alice 2", "alice 3", "alice 4", "alice 5",
            ]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `the flood of a user's shared feed, which the writer brings up to date, is that user's`(
        kind: EngineKind
    ) async throws {
        let (it, _) = try await Self.engine(kind) { $0.waitingRequestsMax = 8 }
        let share = try await it.share("root")
        try await it.join(share, by: it.bobShared)
        // The writer tells shared databases while it has nothing else to do, and not again while
        // the clock stands still.
        _ = try await it.sharedZones(by: it.bobShared)
        let gate = Gate()
        let held = Gate()
        it.send([save("root")], policy: .allKeys) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        let refused = Mutex(0)
        let answered = Mutex(0)
        for _ in 0..<10 {
            it.store.token(of: nil, for: it.bobShared) { result in
                if case .failure(.overloaded) = result {
                    refused.withLock { $0 += 1 }
                } else {
                    answered.withLock { $0 += 1 }
                }
            }
        }
        // The others wait before any is refused; an engine may read on a thread of its own.
        while refused.withLock({ $0 }) < 6 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(refused.withLock { $0 } == 6)
        let saved = Mutex<Bool?>(nil)
        it.send([save("other")]) { result in saved.withLock { $0 = (try? result.get()) != nil } }
        #expect(saved.withLock { $0 } == nil)
        gate.open()
        await it.store.shutdown()
        #expect(saved.withLock { $0 } == true)
        #expect(answered.withLock { $0 } == 4)
    }

    @Test(arguments: EngineKind.allCases)
    func `a user pays for deletes that were refused, by what was looked up for them`(
        kind: EngineKind
    ) async throws {
        let (it, _) = try await Self.engine(kind) { $0.bounds.cascadeTurnMax = 1_000 }
        let children = (0..<390).map { save("x\($0)", ["d": reference("x", .deleteSelf)]) }
        let keeper = save("keeper", ["v": reference("x0", .validate)])
        #expect(try await it.modify([save("x")] + children + [keeper]).areSaved)
        await Self.expectToPay(it, for: ModifyRecords(scope: .private, saves: [], deletes: [id("x")]))
    }

    @Test(arguments: EngineKind.allCases)
    func `a user pays for saves that exceed a bound, by what was counted until then`(
        kind: EngineKind
    ) async throws {
        let (it, _) = try await Self.engine(kind) { $0.bounds.requestEntriesMax = 400 }
        let dear = save("dear", ["list": .int64List((0..<440).map { $0 })])
        await Self.expectToPay(it, for: ModifyRecords(scope: .private, saves: [dear]))
        #expect(try await it.record(id("dear")) == nil)
    }

    /// Has Alice make a request three times that is refused and costs her some 440 units each.
    private static func expectToPay(_ it: EngineUnderTest, for refused: ModifyRecords) async {
        let (gate, held) = (Gate(), Gate())
        it.send([save("first")]) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        let order = Mutex<[String]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func answered(_ who: String) {
                let count = order.withLock { order in
                    order.append(who)
                    return order.count
                }
                if count == 9 { continuation.resume() }
            }
            for number in 0..<3 {
                it.store.write(it.request(.modifyRecords(refused))) { _ in answered("refused \(number)") }
            }
            it.send([save("large")], bytes: 1_000_000) { _ in answered("alice") }
            it.send([save("small")]) { _ in answered("alice again") }
            for number in 0..<4 {
                let operation = ModifyRecords(scope: .private, saves: [save("b\(number)", in: .default)])
                let request = it.request(.modifyRecords(operation), by: it.bobPrivately, bytes: 1_000_000)
                it.store.write(request) { _ in answered("bob \(number)") }
            }
            gate.open()
        }
        // She owes more than a turn: without that her last goes before Bob's third.
        #expect(
            order.withLock { $0 } == [
                "refused 0", "refused 1", "refused 2", "alice", "bob 0", "bob 1", "bob 2", "alice again",
                "bob 3",
            ]
        )
    }
}
