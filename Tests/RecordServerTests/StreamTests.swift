import CloudKitTesting
import NIOCore
import RecordModel
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

/// Violations, windows and the ends of connections, over real TLS.
@Suite(.timeLimit(.minutes(10)))
struct StreamTests {
    // MARK: - Violations

    @Test(arguments: [UInt32(3 * 1_024 * 1_024 + 1), .max])
    func `a frame beyond the limit is refused by its header alone`(bytes: UInt32) async throws {
        try await Self.expectViolation(ByteBuffer(integer: bytes, extra: [4, 0, 0, 0, 0, 1]), .frameTooLarge)
    }

    @Test func `a request without a payload names no operation`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            try await peer.send(Frame(kind: .request, stream: 1))
            #expect(try await peer.answer(on: 1).end.failure?.code == .operationUnknown)
        }
    }

    @Test(
        arguments: [
            FrameKind.welcome, .items, .end, .notification, FrameKind(rawValue: 0), FrameKind(rawValue: 127),
        ]
    )
    func `a kind that is not the client's is a violation`(kind: FrameKind) async throws {
        try await Self.expectViolation([Frame(kind: kind)], .frameKindUnexpected)
    }

    @Test func `a kind of a later version is ignored`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            try await peer.send(
                Frame(kind: FrameKind(rawValue: 128), stream: 9, payload: ByteBuffer(string: "?"))
            )
            try await peer.send(.fetch(["0"]), on: 1)
            #expect(try await peer.answer(on: 1).items.count == 1)
        }
    }

    @Test(arguments: [[UInt32(2)], [0], [3, 1], [3, 3]])
    func `a stream number that is even or does not ascend is a violation`(streams: [UInt32]) async throws {
        try await Self.expectViolation(streams.map { .request(.fetch(["0"]), on: $0) }, .streamInvalid)
    }

    @Test func `a payload that is no message is a violation`() async throws {
        let garbage = Frame(kind: .request, stream: 1, payload: ByteBuffer(repeating: 0xFF, count: 20))
        try await Self.expectViolation([garbage], .messageMalformed)
    }

    @Test func `a credit of 0 and one beyond the bound are violations`() async throws {
        try await Self.expectViolation([Frame(kind: .credit, payload: ByteBuffer())], .creditInvalid)
        try await Self.expectViolation([.credit(0x7FFF_FFFF)], .creditInvalid)
    }

    @Test func `a ping is answered with its own bytes`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            try await peer.send(Frame(kind: .ping, payload: Ping(value: 42).encoded()))
            #expect(await peer.next() == Frame(kind: .pong, payload: Ping(value: 42).encoded()))
        }
    }

    @Test func `a silent client is asked whether it is there`() async throws {
        try await ServerUnderTest.run(configure: { $0.timeouts.idle = .milliseconds(100) }) { server in
            let peer = try await server.signIn()
            #expect(await peer.next()?.kind == .ping)
        }
    }

    // MARK: - Bounds

    @Test(arguments: [(4, 0), (5, 1), (8, 4)])
    func `requests beyond the bound are refused, and the connection stays`(
        requests: Int,
        refused: Int
    ) async throws {
        try await Self.runWithDelays { server in
            let peer = try await server.signIn()
            try await peer.send((0..<requests).map { .request(.fetch(["0"]), on: UInt32(2 * $0 + 1)) })
            var codes: [ErrorCode] = []
            for _ in 0..<refused {
                let end = try #require(await peer.next())
                codes.append(try #require(End(decoding: end.payload).failure).code)
            }
            #expect(codes == Array(repeating: .requestRateLimited, count: refused))
            try await peer.send(Frame(kind: .cancel, stream: 1))
            #expect(try await peer.answer(on: 1).end.failure?.code == .operationCancelled)
        }
    }

    @Test func `more than twice the bound of requests is a violation`() async throws {
        try await Self.runWithDelays { server in
            let peer = try await server.signIn()
            try await peer.send((0..<9).map { .request(.fetch(["0"]), on: UInt32(2 * $0 + 1)) })
            try await HandshakeTests.expectGoaway(.tooManyInFlight, from: peer)
        }
    }

    @Test func `a request without credit is a violation`() async throws {
        try await Self.runWithDelays(configure: { $0.memory.connectionWindowBytes = 65_536 }) { server in
            let peer = try await server.signIn()
            try await peer.send([
                .request(.save(["0"], bytes: 65_536), on: 1), .request(.fetch(["0"]), on: 3),
            ])
            try await HandshakeTests.expectGoaway(.creditExceeded, from: peer)
        }
    }

    @Test func `what was taken of the window is granted again`() async throws {
        try await ServerUnderTest.run(configure: { $0.memory.connectionWindowBytes = 65_536 }) { server in
            let peer = try await server.signIn()
            try await peer.send(.save(["0"], bytes: 40_000), on: 1)
            #expect(await peer.next()?.kind == .items)
            #expect(await peer.next()?.kind == .end)
            let frame = try #require(await peer.next())
            #expect(frame.kind == .credit)
            #expect(try Credit(decoding: frame.payload).bytes > 40_000)
        }
    }

    // MARK: - Windows of answers

    @Test func `items stop when the window is used up and go on with a credit`() async throws {
        let windows = Windows(connectionBytes: 65_536, streamBytes: 65_536)
        try await ServerUnderTest.run { server in
            try await server.fill(records: 3, bytes: 60_000)
            let peer = try await server.signIn(windows: windows)
            try await peer.send(.fetch(["0", "1", "2"]), on: 1)
            var received = 0
            for _ in 0..<2 { received += try Self.payloadBytes(await peer.next(), of: .items) }
            #expect(received > 65_536)
            // Other frames pass a stream that waits.
            try await peer.send(Frame(kind: .ping, payload: Ping(value: 1).encoded()))
            #expect(await peer.next()?.kind == .pong)
            let excess = UInt32(received - 65_536)
            try await peer.send([.credit(excess), .credit(excess, on: 1)])
            try await peer.send(Frame(kind: .ping, payload: Ping(value: 2).encoded()))
            #expect(await peer.next()?.kind == .pong)
            try await peer.send([.credit(1), .credit(1, on: 1)])
            #expect(await peer.next()?.kind == .items)
            #expect(await peer.next()?.kind == .end)
        }
    }

    @Test func `a cancel drops what was read and waits for credit`() async throws {
        let windows = Windows(connectionBytes: 65_536, streamBytes: 65_536)
        try await ServerUnderTest.run { server in
            try await server.fill(records: 3, bytes: 60_000)
            let peer = try await server.signIn(windows: windows)
            try await peer.send(.fetch(["0", "1", "2"]), on: 1)
            for _ in 0..<2 { #expect(await peer.next()?.kind == .items) }
            try await peer.send(Frame(kind: .cancel, stream: 1))
            let answer = try await peer.answer(on: 1)
            #expect(answer.items.isEmpty)
            #expect(answer.end.failure?.code == .operationCancelled)
            // The windows are as before: what comes next waits, and goes on.
            try await peer.send([.request(.fetch(["0"]), on: 3), .credit(200_000)])
            #expect(try await peer.answer(on: 3).items.count == 1)
        }
    }

    @Test func `items of a frame are many when they are small and one when it is large`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 3, bytes: 30_000)
            let peer = try await server.signIn()
            try await peer.send(.fetch(["0", "1", "2", "0", "1"]), on: 1)
            var counts: [Int] = []
            while let frame = await peer.next(), frame.kind == .items {
                #expect(frame.payload.readableBytes <= 64 * 1_024)
                counts.append(try Items(decoding: frame.payload).items.count)
            }
            #expect(counts == [2, 2, 1])
        }
    }

    @Test func `a client that grants no credit is closed and what it left is let go`() async throws {
        let windows = Windows(connectionBytes: 65_536, streamBytes: 65_536)
        try await ServerUnderTest.run(configure: { $0.timeouts.slowReader = .milliseconds(300) }) { server in
            try await server.fill(records: 1, bytes: 100_000)
            let peer = try await server.signIn(windows: windows)
            try await peer.send((0..<4).map { .request(.fetch(["0"]), on: UInt32(2 * $0 + 1)) })
            try await HandshakeTests.expectGoaway(.slowReader, from: peer)
            try await HandshakeTests.expectService(of: server)
        }
    }

    @Test func `a client that never reads is closed, and the server held no more than its bounds`()
        async throws
    {
        let configure: (inout ServerConfiguration) -> Void = { configuration in
            configuration.timeouts.slowReader = .seconds(1)
            configuration.memory.responsesHeldBytesMax = 2 * 1_024 * 1_024
        }
        try await ServerUnderTest.run(configure: configure) { server in
            try await server.fill(records: 1, bytes: 1_000_000)
            let windows = Windows(connectionBytes: 0x7FFF_FFFF, streamBytes: 0x7FFF_FFFF)
            let peer = try await server.signIn(windows: windows)
            try await peer.channel.setOption(.autoRead, value: false).get()
            // 100 MB of answers: more than the kernel's buffers on both sides take.
            try await peer.send((0..<100).map { .request(.fetch(["0"]), on: UInt32(2 * $0 + 1)) })
            await until { !server.log.complaints.isEmpty }
            #expect(server.log.complaints.first?.metadata["reason"] == CloseReason.slowReader.text)
            #expect(server.server.heldBytesMost <= 4 * 1_024 * 1_024)
            try await HandshakeTests.expectService(of: server)
            await peer.close()
        }
    }

    // MARK: - Drain

    @Test func `a drain answers what is in flight, refuses what is new, and closes`() async throws {
        let windows = Windows(connectionBytes: 65_536, streamBytes: 65_536)
        try await ServerUnderTest.run { server in
            try await server.fill(records: 3, bytes: 60_000)
            let peer = try await server.signIn(windows: windows)
            try await peer.send(.fetch(["0", "1", "2"]), on: 1)
            for _ in 0..<2 { #expect(await peer.next()?.kind == .items) }
            async let shutdown: Void = server.server.shutdown(grace: .seconds(30))
            let goaway = try #require(await peer.next())
            #expect(try GoAway(decoding: goaway.payload).reason == .drain)
            try await peer.send(.fetch(["0"]), on: 3)
            let refused = try #require(try await peer.answer(on: 3).end.failure)
            #expect(refused.code == .serviceUnavailable)
            #expect(refused.retry == .now)
            try await peer.send([.credit(100_000), .credit(100_000, on: 1)])
            let answer = try await peer.answer(on: 1)
            #expect(answer.end.failure == nil)
            #expect(answer.items.map(\.index) == [2])
            #expect(await peer.rest() == [])
            await shutdown
        }
    }

    @Test func `after the grace period a drain closes whatever is in flight`() async throws {
        try await Self.runWithDelays { server in
            let peer = try await server.signIn()
            try await peer.send(.fetch(["0"]), on: 1)
            try await peer.send(Frame(kind: .ping, payload: Ping(value: 1).encoded()))
            #expect(await peer.next()?.kind == .pong)
            await server.server.shutdown(grace: .milliseconds(50))
            #expect(await peer.rest().map(\.kind) == [.goaway])
        }
    }

    @Test func `a client that drains gets its answers, no new streams, and the end without a goaway`()
        async throws
    {
        let windows = Windows(connectionBytes: 65_536, streamBytes: 65_536)
        try await ServerUnderTest.run { server in
            try await server.fill(records: 3, bytes: 60_000)
            let peer = try await server.signIn(windows: windows)
            try await peer.send(.fetch(["0", "1", "2"]), on: 1)
            for _ in 0..<2 { #expect(await peer.next()?.kind == .items) }
            let drain = GoAway(reason: .drain, message: "leaving")
            try await peer.send(Frame(kind: .goaway, payload: drain.encoded()))
            try await peer.send(.fetch(["0"]), on: 3)
            let refused = try #require(try await peer.answer(on: 3).end.failure)
            #expect(refused.code == .serviceUnavailable && refused.retry == .now)
            try await peer.send([.credit(100_000), .credit(100_000, on: 1)])
            #expect(try await peer.answer(on: 1).items.map(\.index) == [2])
            #expect(await peer.rest() == [])
        }
    }

    @Test(arguments: [CloseReason.idle, .frameTooLarge])
    func `a client that leaves for another reason than a drain gets no answer`(
        reason: CloseReason
    ) async throws {
        try await Self.runWithDelays { server in
            let peer = try await server.signIn()
            try await peer.send(.fetch(["0"]), on: 1)
            let goaway = GoAway(reason: reason, message: "leaving")
            try await peer.send(Frame(kind: .goaway, payload: goaway.encoded()))
            #expect(await peer.rest() == [])
        }
    }

    @Test func `a client that ends its side ends the connection, answered or not`() async throws {
        try await Self.runWithDelays { server in
            let peer = try await server.signIn()
            try await peer.send(.fetch(["0"]), on: 1)
            // Half of it is not left open for the answer.
            try await peer.channel.close(mode: .output)
            #expect(await peer.rest() == [])
            try await HandshakeTests.expectService(of: server)
        }
    }

    // MARK: -

    /// Fetches and saves of records take for ever, and four are a connection's bound.
    private static func runWithDelays(
        configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (ServerUnderTest) async throws -> Void
    ) async throws {
        let faults: FaultInjector = { occasion in
            [.fetchRecords, .modifyRecords].contains(occasion.operation) ? .delay(.seconds(3_600)) : nil
        }
        try await ServerUnderTest.run(
            configure: {
                $0.bounds.inFlightMax = 4
                configure(&$0)
            },
            faults: faults,
            body
        )
    }

    private static func expectViolation(_ frames: [Frame], _ reason: CloseReason) async throws {
        var bytes = ByteBuffer()
        for frame in frames { FrameEncoder.write(frame, into: &bytes) }
        try await Self.expectViolation(bytes, reason)
    }

    private static func expectViolation(_ bytes: ByteBuffer, _ reason: CloseReason) async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            try await peer.send(bytes)
            try await HandshakeTests.expectGoaway(reason, from: peer)
            #expect(server.log.complaints.map(\.message) == ["connection closed"])
            #expect(server.log.complaints.map { $0.metadata["reason"] } == [reason.text])
            try await HandshakeTests.expectService(of: server)
        }
    }

    private static func payloadBytes(_ frame: Frame?, of kind: FrameKind) throws -> Int {
        let frame = try #require(frame)
        #expect(frame.kind == kind)
        return frame.payload.readableBytes
    }
}
