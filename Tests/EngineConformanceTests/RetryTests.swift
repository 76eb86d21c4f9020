import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// Conflicts and unknown outcomes, at each place of a request.
@Suite(.timeLimit(.minutes(10)))
struct RetryTests {
    @Test(arguments: EngineKind.allCases)
    func `whichever primitive fails, a request is executed once`(kind: EngineKind) async throws {
        let script = FailureScript()
        let it = try await EngineUnderTest.withNotes(kind) { $0.failures = { script.next() } }
        // Beyond the last primitive, it is the commit that fails.
        for primitives in 0..<60 {
            let names = ["a\(primitives)", "b\(primitives)"]
            let saves = [
                save(names[0], ["n": .int64(1)]),
                save(names[1], ["d": reference(names[0], .deleteSelf)], parent: .set(recordName: names[0])),
            ]
            for failure in [StorageFailure.conflict, .outcomeUnknown] {
                let id = it.newRequestID()
                let before = it.store.statistics
                script.failures = [.primitive(failure, behind: primitives)]
                let outcomes = try await it.modify(saves, policy: .changedKeys, id: id)
                #expect(outcomes.areSaved)
                #expect(try await it.modify(saves, policy: .changedKeys, id: id) == outcomes)
                let after = it.store.statistics
                #expect(after.recordsWritten == before.recordsWritten + 2)
                #expect(after.requestsReplayed == before.requestsReplayed + 1)
            }
        }
        #expect(try await it.modify([], deletes: [id("a0")]) == [.deleted])
        #expect(try await it.record(id("b0")) == nil)
        #expect(try await it.isOrderWhole())
    }

    @Test(arguments: EngineKind.allCases)
    func `a commit whose outcome is unknown is found by the request ID`(kind: EngineKind) async throws {
        let script = FailureScript()
        let it = try await EngineUnderTest.withNotes(kind) { $0.failures = { script.next() } }
        script.failures = [.reply]
        let created = try await it.modify([save("a", ["n": .int64(1)])])
        #expect(created.areSaved)
        #expect(it.store.statistics.requestsReplayed == 1)
        #expect(try await it.record(id("a"))?.changeTag == created[0].tag)
        // A request that changes nothing leaves no outcome, and is executed again.
        script.failures = [.reply]
        let failed = try await it.modify([save("a")])
        #expect(failed[0].error != nil)
        #expect(it.store.statistics.requestsReplayed == 1)
    }

    @Test(arguments: EngineKind.allCases)
    func `a part of a cascade whose outcome is unknown deletes nothing twice`(
        kind: EngineKind
    ) async throws {
        for failure in [InjectedFailure.reply, .primitive(.conflict, behind: 7)] {
            let script = FailureScript()
            let it = try await EngineUnderTest.withNotes(kind) { settings in
                settings.bounds.cascadeTurnMax = 10
                settings.bounds.cascadeTogetherMax = 20
                settings.failures = { script.next() }
            }
            _ = try await it.modify([save("root")])
            let children = (0..<100).map { save("c\($0)", ["d": reference("root", .deleteSelf)]) }
            #expect(try await it.modify(children).areSaved)
            let commits = it.store.statistics.commits
            script.failures = (0..<40).map { $0 % 2 == 0 ? failure : nil }
            #expect(try await it.modify([], deletes: [id("root")]) == [.deleted])
            #expect(it.store.statistics.commits > commits + 5)
            for name in ["root", "c0", "c50", "c99"] { #expect(try await it.record(id(name)) == nil) }
            #expect(try await it.isOrderWhole())
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a request that never gets through is refused, and may come again`(kind: EngineKind) async throws {
        let script = FailureScript()
        let it = try await EngineUnderTest.withNotes(kind) { $0.failures = { script.next() } }
        let request = it.newRequestID()
        script.failures = (0..<100).map { _ in .primitive(.conflict, behind: 5) }
        await #expect(throws: StoreError.storageUnavailable(retryAfterMilliseconds: 1_000)) {
            try await it.modify([save("a")], id: request)
        }
        #expect(script.failures.count == 91)
        script.failures = []
        #expect(try await it.record(id("a")) == nil)
        #expect(try await it.modify([save("a")], id: request).areSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `neighbours of a conflict in the same transaction are executed once`(
        kind: EngineKind
    ) async throws {
        let script = FailureScript()
        let it = try await EngineUnderTest.withNotes(kind) { $0.failures = { script.next() } }
        // The first job holds the writer.
        script.failures = [nil, nil, .primitive(.conflict, behind: 9), nil]
        let outcomes = await it.together([[save("a")], [save("b")], [save("c")]])
        for outcome in outcomes { #expect(try outcome.get().areSaved) }
        #expect(it.store.statistics.requestsReplayed == 0)
        #expect(try await it.isOrderWhole())
    }
}

/// Failures in the order in which jobs meet them.
final class FailureScript: Sendable {
    private let state = Mutex<[InjectedFailure?]>([])

    var failures: [InjectedFailure?] {
        get { self.state.withLock { $0 } }
        set { self.state.withLock { $0 = newValue } }
    }

    func next() -> InjectedFailure? {
        self.state.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
