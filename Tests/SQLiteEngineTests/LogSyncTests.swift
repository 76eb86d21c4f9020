import Foundation
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// Nothing is told before it is on disk (SQLite alone: another engine has a log of its own).
@Suite(.timeLimit(.minutes(10)))
struct LogSyncTests {
    @Test
    func `a save is answered, and read by anybody, when it is on disk`() async throws {
        let disk = Disk()
        let it = try await EngineUnderTest.withNotes(.sqlite) { $0.syncFile = { disk.sync($0) } }
        disk.hold()
        let saved = Told<Bool>()
        it.send([save("a")]) { saved.tell((try? $0.get().areSaved) ?? false) }
        await disk.isWaitedFor()

        // Short reads are over when the call returns.
        let read = Told<Bool>()
        it.store.fetchRecords([id("a")], desiredKeys: nil, for: it.privately) {
            read.tell(Self.isRecord($0))
        }
        let token = Told<Bool>()
        it.store.token(of: nil, for: it.privately) { token.tell((try? $0.get()) != nil) }
        let elsewhere = Told<Bool>()
        it.store.fetchRecords([id("a")], desiredKeys: nil, for: it.bobPrivately) {
            elsewhere.tell(Self.isRecord($0))
        }
        #expect(saved.value == nil && read.value == nil && token.value == nil)
        #expect(elsewhere.value == false, "another database has nothing to wait for")

        disk.release()
        let all = await [saved.wait(), read.wait(), token.wait()]
        #expect(all == [true, true, true])
    }

    @Test
    func `the next requests are executed while a commit is on its way to the disk`() async throws {
        let disk = Disk()
        let it = try await EngineUnderTest.withNotes(.sqlite) { settings in
            settings.syncFile = { disk.sync($0) }
            settings.commitRecordsMax = 1
        }
        let gate = Gate()
        let first = Told<Bool>()
        it.send([save("first")]) { _ in
            first.tell(true)
            gate.wait()
        }
        _ = await first.wait()
        let order = Mutex<[String]>([])
        let last = Told<Bool>()
        for name in ["a", "b"] {
            it.send([save(name)]) { result in
                order.withLock { $0.append((try? result.get().areSaved) == true ? name : "refused") }
                if name == "b" { last.tell(true) }
            }
        }
        let commits = it.store.statistics.commits
        disk.hold()
        gate.open()
        while it.store.statistics.commits < commits + 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(order.withLock { $0 }.isEmpty)
        disk.release()
        _ = await last.wait()
        #expect(order.withLock { $0 } == ["a", "b"])
    }

    @Test
    func `when the log can't be synced everything is refused until somebody opens it anew`() async throws {
        let disk = Disk()
        let events = Mutex<[EngineEvent]>([])
        let it = try EngineUnderTest(.sqlite) {
            $0.syncFile = { disk.sync($0) }
        } report: { event in
            events.withLock { $0.append(event) }
        }
        _ = try await it.modifyZones(["notes"])
        #expect(try await it.modify([save("before")]).areSaved)
        disk.fail(EIO)
        let refusal = StoreError.storageUnavailable(retryAfterMilliseconds: 1_000)
        await #expect(throws: refusal) { try await it.modify([save("lost")]) }
        #expect(events.withLock { $0 }.contains(.logLost(systemError: EIO)))
        disk.fail(0)
        await #expect(throws: refusal) { try await it.modify([save("late")]) }
        await #expect(throws: refusal) { try await it.record(id("before")) }
        #expect(events.withLock { $0.filter { $0 == .logLost(systemError: EIO) }.count } == 1)

        let next = try await it.reopened()
        #expect(try await next.record(id("before")) != nil)
        #expect(try await next.record(id("late")) == nil)
        #expect(try await next.modify([save("after")]).areSaved)
    }

    @Test
    func `when nobody writes the log is copied into the file, and saves go on`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let body = [UInt8](repeating: 7, count: 20_000)
        // One transaction: a pause between several could be one in which nobody writes.
        let saves = (0..<400).map { save("n\($0)", ["blob": .bytes(body)]) }
        #expect(try await it.modify(saves).areSaved)
        func fileBytes() throws -> Int {
            let path = it.folder.path + "/tidemark.sqlite"
            return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        }
        while try fileBytes() < 400 * body.count { try await Task.sleep(for: .milliseconds(50)) }
        #expect(try await it.modify([save("after")]).areSaved)
        #expect(try await it.record(id("n399")) != nil)
    }

    private static func isRecord(_ result: Result<[ReadOutcome], StoreError>) -> Bool {
        if case .success(let outcomes) = result, case .record? = outcomes.first { true } else { false }
    }
}

/// A disk that takes its time, or fails.
private final class Disk: Sendable {
    private let condition = NSCondition()
    private let state = Mutex((isHeld: false, waiting: 0, error: Int32(0)))

    func sync(_ descriptor: Int32) -> Int32 {
        self.condition.withLock {
            self.state.withLock { $0.waiting += 1 }
            while self.state.withLock({ $0.isHeld }) { self.condition.wait() }
            self.state.withLock { $0.waiting -= 1 }
        }
        let error = self.state.withLock { $0.error }
        return error == 0 && fdatasync(descriptor) != 0 ? errno : error
    }

    func hold() { self.state.withLock { $0.isHeld = true } }

    func release() {
        self.condition.withLock {
            self.state.withLock { $0.isHeld = false }
            self.condition.broadcast()
        }
    }

    func fail(_ error: Int32) { self.state.withLock { $0.error = error } }

    func isWaitedFor() async {
        await until { self.state.withLock({ $0.waiting }) != 0 }
    }
}

/// What a callback said, once.
private final class Told<Value: Sendable>: Sendable {
    private let told = Mutex<Value?>(nil)

    var value: Value? { self.told.withLock { $0 } }

    func tell(_ value: Value) { self.told.withLock { $0 = value } }

    func wait() async -> Value {
        while true {
            if let value { return value }
            await Task.yield()
        }
    }
}
