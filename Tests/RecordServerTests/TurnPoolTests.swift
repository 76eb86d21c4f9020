import Admission
import Foundation
import NIOCore
import RecordModel
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

/// Threads that holders get in turns, and what is done on them.
@Suite(.timeLimit(.minutes(10)))
struct TurnPoolTests {
    /// What was done, in order; every piece of work waits until the pool is let go.
    private final class Record: Sendable {
        private let done = Mutex<[String]>([])
        private let isOpen = Atomic<Bool>(false)

        var names: [String] { self.done.withLock { $0 } }

        func open() { self.isOpen.store(true, ordering: .relaxed) }

        func work(_ name: String) {
            while !self.isOpen.load(ordering: .relaxed) { usleep(1_000) }
            self.done.withLock { $0.append(name) }
        }
    }

    @Test func `what one holder has waiting delays nobody by more than a turn`() async throws {
        let pool = TurnPool(threadCount: 1, quantum: 2, costMax: 1_000)
        pool.start()
        let record = Record()
        for _ in 0..<20 {
            let isAdmitted = pool.submit(of: .address("greedy"), cost: 1) { record.work("greedy") }
            #expect(isAdmitted)
        }
        #expect(pool.submit(of: .address("modest"), cost: 1) { record.work("modest") })
        record.open()
        await until { record.names.count >= 21 }
        let place = try #require(record.names.firstIndex(of: "modest"))
        #expect(place <= 4)
        try await pool.shutdown()
    }

    @Test func `whoever has more waiting than is left for the others is refused, and nobody else`()
        async throws
    {
        let pool = TurnPool(threadCount: 1, quantum: 100, costMax: 1_000)
        pool.start()
        let record = Record()
        var admitted = 0
        for _ in 0..<20 where pool.submit(of: .address("greedy"), cost: 100, { record.work("greedy") }) {
            admitted += 1
        }
        // Half, and the one that the thread has taken.
        #expect((5...6).contains(admitted))
        #expect(pool.submit(of: .address("modest"), cost: 100) { record.work("modest") })
        record.open()
        await until { record.names.count >= admitted + 1 }
        try await pool.shutdown()
    }

    @Test func `a connection has one schema checked at a time`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.connect()
            try await peer.send(.hello(token: ""))
            #expect(await peer.next()?.kind == .welcome)
            try await peer.send((0..<4).map { .request(.check(bytes: 100_000), on: UInt32(2 * $0 + 1)) })
            var refused: [UInt32: ErrorCode] = [:]
            for _ in 0..<4 {
                let frame = try #require(await peer.next())
                refused[frame.stream] = try End(decoding: frame.payload).failure?.code
            }
            let busy = ErrorCode.requestRateLimited
            #expect(refused == [3: busy, 5: busy, 7: busy])
            try await peer.send(.check(bytes: 1_000), on: 9)
            #expect(try await peer.answer(on: 9).end.failure?.code != .requestRateLimited)
        }
    }

    @Test func `schemas that take long keep nobody from signing in`() async throws {
        try await ServerUnderTest.run { server in
            let gate = Gate()
            defer { gate.open() }
            for number in 0..<4 {
                let isAdmitted = server.server.context.schemaChecks.submit(of: .address("\(number)"), cost: 1)
                {
                    gate.wait()
                }
                #expect(isAdmitted)
            }
            let peer = try await server.signIn()
            try await peer.send(.check(bytes: 1_000), on: 1)
            try await HandshakeTests.expectService(of: server)
            gate.open()
            #expect(try await peer.answer(on: 1).end.failure?.code != .requestRateLimited)
        }
    }

    @Test func `what a schema lacks is told up to a bound in lines and in bytes, and how much more there is`()
    {
        let few = SchemaCheck.lines(["a", "b"], count: 2)
        #expect(few == ["a", "b"])
        let many = SchemaCheck.lines((0..<20_000).map { "\($0)" }, count: 20_000)
        #expect(many.count == Bounds.missingMax)
        #expect(many.last == "AND 10001 MORE")
        let line = String(repeating: "x", count: 1_024)
        let long = SchemaCheck.lines(Array(repeating: line, count: 9_000), count: 9_000)
        #expect(long.count == 513)
        #expect(long.last == "AND 8488 MORE")
        #expect(End(missing: long).encoded().readableBytes < Bounds.defaults.requestBytesMax)
    }
}
