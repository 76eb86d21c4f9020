import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// What the engine does when it is asked too much, too late, or on a full disk.
@Suite(.timeLimit(.minutes(10)))
struct AdmissionTests {
    @Test(arguments: EngineKind.allCases)
    func `a request whose deadline has passed is not executed`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        func operation(_ name: String) -> WriteRequest.Operation {
            .modifyRecords(ModifyRecords(scope: .private, saves: [save(name)]))
        }
        let now = it.clock.milliseconds
        #expect(await it.write(operation("a"), deadline: now - 1) == .failure(.deadlinePassed))
        #expect(try await it.record(id("a")) == nil)
        #expect(try await it.write(operation("b"), deadline: now).get()[0].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `beyond the bounds of the queue requests are refused, and what was admitted is done`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { settings in
            // Of which one alone may have half.
            settings.waitingRequestsMax = 6
            settings.waitingBytesMax = 1_000
        }
        // The reply of the first request holds the writer until the queue is as full as it gets.
        let gate = Gate()
        let held = Gate()
        it.send([save("first")]) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        let results = Mutex<[Result<[WriteOutcome], StoreError>]>([])
        let refused = Mutex(0)
        for number in 0..<5 {
            it.send([save("n\(number)")], bytes: 100) { result in
                if case .failure(.overloaded) = result { refused.withLock { $0 += 1 } }
                results.withLock { $0.append(result) }
            }
        }
        #expect(refused.withLock { $0 } == 2)
        #expect(it.store.load.figures.requestsWaiting == 3)
        #expect(it.store.load.figures.bytesWaiting == 300)
        gate.open()
        let last = try await it.reopened()
        #expect(results.withLock { $0.count } == 5)
        for number in 0..<3 { #expect(try await last.record(id("n\(number)")) != nil) }
        #expect(try await last.record(id("n3")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `after the end requests are refused`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        await it.store.shutdown()
        await #expect(throws: StoreError.shuttingDown) { try await it.modify([save("a")]) }
        await #expect(throws: StoreError.shuttingDown) { try await it.fetch([id("a")]) }
    }

    @Test(arguments: EngineKind.withOwnDisk)
    func `a full disk refuses writes, loses nothing, and takes them again when there is room`(
        kind: EngineKind
    ) async throws {
        var it = try await EngineUnderTest.withNotes(kind) { $0.filePagesMax = 106 }
        let body: [String: FieldValue] = ["b": .bytes([UInt8](repeating: 1, count: 10_000))]
        var saved: [String: String] = [:]
        var refusals = 0
        for number in 0..<40 {
            switch await it.result([save("r\(number)", body)]) {
            case .success(let outcomes): saved["r\(number)"] = outcomes[0].tag
            case .failure(let error):
                #expect(error == .diskFull(retryAfterMilliseconds: 5_000))
                refusals += 1
            }
        }
        #expect(refusals > 0)
        #expect(saved.count > 5)
        // What needs no room is still done, after as many failures as you like.
        #expect(try await it.modify([], deletes: [id("r0")]) == [.deleted])
        saved["r0"] = nil
        #expect(try await it.modify([save("small", ["n": .int64(1)])])[0].isSaved)
        it = try await it.reopened()
        for (name, tag) in saved { #expect(try await it.record(id(name))?.changeTag == tag) }
        #expect(try await it.record(id("r39")) == nil)
        #expect(try await it.modify([save("r39", body)])[0].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `many requests at once share commits and all are on disk`(kind: EngineKind) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        let before = it.store.statistics
        let engine = it
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask { _ = try? await engine.modify([save("r\(number)")]) }
            }
        }
        #expect(it.store.statistics.requestsCommitted - before.requestsCommitted == 200)
        it = try await it.reopened()
        for number in 0..<200 { #expect(try await it.record(id("r\(number)")) != nil) }
    }
}

extension EngineUnderTest {
    fileprivate func result(_ saves: [RecordSave]) async -> Result<[WriteOutcome], StoreError> {
        await self.write(.modifyRecords(ModifyRecords(scope: .private, saves: saves)))
    }
}
