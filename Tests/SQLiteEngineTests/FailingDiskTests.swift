import Foundation
import GRDBSQLite
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// A disk that refuses to write, and what is said of it.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct FailingDiskTests {
    private final class Scene: Sendable {
        let it: EngineUnderTest
        private let events: Reports

        init() async throws {
            let events = Reports()
            self.events = events
            self.it = try EngineUnderTest(.sqlite, report: { event in events.add(event) })
            _ = try await self.it.modifyZones(["notes"])
        }

        func count(_ event: EngineEvent) -> Int { self.events.all.count { $0 == event } }

        func refusal(of name: String) async -> StoreError? {
            let operation = ModifyRecords(scope: .private, saves: [save(name)])
            guard case .failure(let error) = await self.it.write(.modifyRecords(operation)) else {
                return nil
            }
            return error
        }

        /// Nobody asks for anything meanwhile.
        func works() async throws {
            while self.it.store.condition != .works { try await Task.sleep(for: .milliseconds(20)) }
        }
    }

    private final class Reports: Sendable {
        private let events = Mutex<[EngineEvent]>([])

        var all: [EngineEvent] { self.events.withLock { $0 } }

        func add(_ event: EngineEvent) { self.events.withLock { $0.append(event) } }
    }

    @Test func `a disk that fails is not called full, and the store finds out when it works again`()
        async throws
    {
        let scene = try await Scene()
        defer { FailingWrites.stop() }
        FailingWrites.begin(in: scene.it.folder.path, error: EIO)
        for name in ["a", "b"] {
            let refusal = await scene.refusal(of: name)
            #expect(refusal == .storageUnavailable(retryAfterMilliseconds: 1_000))
        }
        let code = SQLITE_IOERR | (3 << 8)
        #expect(scene.it.store.condition == .fails(code: code))
        #expect(scene.count(.writesFail(code: code)) == 1)
        #expect(scene.count(.changesRefused(1)) == 2)
        #expect(scene.count(.diskFull) == 0)
        #expect(scene.count(.writesWork) == 0)
        FailingWrites.stop()
        try await scene.works()
        #expect(scene.count(.writesWork) == 1)
        #expect(await scene.refusal(of: "a") == nil)
    }

    @Test func `a file that cannot be read is told of with each request, and so is the end`() async throws {
        let scene = try await Scene()
        defer { FailingWrites.stop() }
        #expect(await scene.refusal(of: "a") == nil)
        // SQLite takes EIO for a damaged file.
        FailingWrites.begin(in: scene.it.folder.path, error: ESTALE, ofReads: true)
        for _ in 0..<3 {
            await #expect(throws: StoreError.storageUnavailable(retryAfterMilliseconds: 1_000)) {
                try await scene.it.record(id("a"))
            }
        }
        #expect(scene.count(.storageUnavailable(code: SQLITE_IOERR | (1 << 8))) == 3)
        #expect(scene.count(.storageAvailable) == 0)
        FailingWrites.stop()
        for _ in 0..<2 { #expect(try await scene.it.record(id("a")) != nil) }
        #expect(scene.count(.storageAvailable) == 1)
    }

    @Test(arguments: [ENOSPC, EDQUOT, EFBIG])
    func `a quota and a bound on files are want of room, as a full disk is`(error: Int32) async throws {
        let scene = try await Scene()
        defer { FailingWrites.stop() }
        FailingWrites.begin(in: scene.it.folder.path, error: error)
        #expect(await scene.refusal(of: "a") == .diskFull(retryAfterMilliseconds: 5_000))
        #expect(scene.it.store.condition == .full)
        FailingWrites.stop()
        #expect(await scene.refusal(of: "a") == nil)
        #expect(scene.it.store.condition == .works)
    }
}
