import Admission
import Crypto
import RecordModel
import RecordServer
import RecordStore
import SQLiteEngine
import StorageContract
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// A microsecond for each look at a clock.
private final class Looks: Sendable {
    private let nanoseconds = Atomic<Int64>(0)

    func next() -> Int64 { self.nanoseconds.add(1_000, ordering: .relaxed).newValue }
}

/// More than the writer can do, over real connections: the disk stands still until the test lets it
/// go on, and so does the time of the rule.
@Suite(.timeLimit(.minutes(10)))
struct OverloadTests {
    private static let zone = ServerUnderTest.zone
    private static let other = "another token"

    /// A server whose writer stands, with so many requests ahead that newcomers are refused.
    private static func crowded(
        _ body: (ServerUnderTest, StandingDisk, ManualClock) async throws -> Void
    ) async throws {
        let disk = StandingDisk()
        let time = ManualClock(milliseconds: 0)
        let looks = Looks()
        try await ServerUnderTest.run(
            configureEngine: { configuration in
                configuration.durability = .full
                configuration.syncFile = { disk.sync($0) }
                configuration.queues.commitRecordsMax = 1
                // What may be ahead is a few requests: each takes longer than that.
                configuration.queues.writerWaitNanoseconds = 1
                configuration.monotonicNanoseconds = { time.milliseconds * 1_000_000 + looks.next() }
            }
        ) { server in
            try server.store.directory.addUser(
                named: "other",
                userRecordName: "_ffffffffffffffffffffffffffffffff",
                tokenHash: Array(SHA256.hash(data: Array(Self.other.utf8))),
                toContainer: ServerUnderTest.container
            )
            try await server.fill(records: 1, bytes: 10)
            let visit = try await server.signIn(token: Self.other)
            try await visit.send(.modifyZones(ModifyZones(scope: .private, saves: [Self.zone])), on: 1)
            _ = try await visit.answer(on: 1)
            await visit.close()
            disk.hold()
            let crowd = try await server.signIn()
            for number in 0..<100 {
                try await crowd.send(.save(["crowd \(number)"]), on: UInt32(2 * number + 1))
            }
            // All have arrived when this is answered.
            try await crowd.send(Frame(kind: .ping, payload: Ping(value: 1).encoded()))
            _ = await crowd.next()
            // One is on its way to the disk, one waits for that, and one for the one that waits.
            while server.store.load.figures.requestsWaiting < 97 {
                try await Task.sleep(for: .milliseconds(1))
            }
            time.advance(milliseconds: 100)
            try await body(server, disk, time)
            disk.release()
        }
    }

    private static func failure(
        _ peer: TestPeer,
        _ operation: Operation,
        on stream: UInt32
    ) async throws -> Failure? {
        try await peer.send(operation, on: stream)
        return try await peer.answer(on: stream).end.failure
    }

    private static func milliseconds(_ failure: Failure?) throws -> UInt32 {
        let failure = try #require(failure)
        #expect(failure.code == .requestRateLimited)
        guard case .after(let milliseconds) = failure.retry else {
            Issue.record("no time to come back: \(failure)")
            return 0
        }
        return milliseconds
    }

    @Test func `who was refused is admitted at his time, on another connection, while others are refused`()
        async throws
    {
        try await Self.crowded { server, disk, time in
            let first = try await server.signIn()
            let wait = try Self.milliseconds(try await Self.failure(first, .save(["mine"]), on: 1))
            #expect(wait == 100)
            time.advance(milliseconds: 40)
            #expect(
                try Self.milliseconds(try await Self.failure(first, .save(["mine"]), on: 3)) == 60,
                "too early: what is left, and no later place"
            )
            await first.close()

            // They ask for as much as they can.
            let flood = try await server.signIn()
            for number in 0..<300 {
                let failure = try await Self.failure(
                    flood,
                    .save(["flood \(number)"]),
                    on: UInt32(2 * number + 1)
                )
                #expect(try Self.milliseconds(failure) >= 60)
            }

            time.advance(milliseconds: 60)
            let second = try await server.signIn()
            try await second.send(.save(["mine"]), on: 1)
            let given = server.store.load.figures.reservationsGiven
            while server.store.load.figures.reservationsKept == 0 {
                #expect(server.store.load.figures.reservationsGiven == given)
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(try Self.milliseconds(try await Self.failure(flood, .save(["more"]), on: 601)) > 0)
            disk.release()
            guard case .recordSaved? = try await second.answer(on: 1).items.first?.outcome else {
                Issue.record("not saved")
                return
            }
        }
    }

    @Test func `while one user asks for too much nobody else is refused`() async throws {
        try await Self.crowded { server, disk, time in
            let crowd = try await server.signIn()
            #expect(try Self.milliseconds(try await Self.failure(crowd, .save(["no"]), on: 1)) == 100)
            let other = try await server.signIn(token: Self.other)
            for number in 0..<10 {
                try await other.send(.save(["mine \(number)"]), on: UInt32(2 * number + 1))
            }
            try await other.send(Frame(kind: .ping, payload: Ping(value: 1).encoded()))
            #expect(await other.next() == Frame(kind: .pong, payload: Ping(value: 1).encoded()))
            disk.release()
            for number in 0..<10 {
                #expect(try await other.answer(on: UInt32(2 * number + 1)).end.failure == nil)
            }
        }
    }

    @Test func `what costs the writer nothing is not refused`() async throws {
        try await Self.crowded { server, disk, time in
            let peer = try await server.signIn()
            #expect(try Self.milliseconds(try await Self.failure(peer, .save(["no"]), on: 1)) == 100)
            try await peer.send(Frame(kind: .ping, payload: Ping(value: 7).encoded()))
            #expect(await peer.next() == Frame(kind: .pong, payload: Ping(value: 7).encoded()))
            // Another database has nothing on its way to the disk.
            let other = try await server.signIn(token: Self.other)
            try await other.send(.fetch(["0"]), on: 1)
            #expect(try await other.answer(on: 1).end.failure == nil)
        }
    }

    @Test func `what was admitted is answered, and a second after the load nobody is refused`() async throws {
        try await Self.crowded { server, disk, time in
            let peer = try await server.signIn()
            _ = try Self.milliseconds(try await Self.failure(peer, .save(["no"]), on: 1))
            disk.release()
            while server.store.load.figures.requestsWaiting > 0 {
                try await Task.sleep(for: .milliseconds(1))
            }
            time.advance(milliseconds: 1_000)
            for number in 1..<50 {
                let failure = try await Self.failure(peer, .save(["\(number)"]), on: UInt32(2 * number + 1))
                #expect(failure == nil)
            }
            try await peer.send(.fetch(["crowd 99"]), on: 201)
            guard case .record? = try await peer.answer(on: 201).items.first?.outcome else {
                Issue.record("what was admitted is not there")
                return
            }
        }
    }
}
