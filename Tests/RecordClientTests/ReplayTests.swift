import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

/// What happens to requests when their connection ends.
@Suite struct ReplayTests {
    @Test func `a request in flight is sent again with the same bytes and delivers no item twice`() throws {
        let server = ScriptedServer()
        let request = server.start(.delete(3))
        let first = try server.accept(1)
        let sent = try first.frames()
        try #require(sent.map(\.kind) == [.request])
        try first.items(.deleted(0, 2), on: 1)
        first.breakOff()
        // It had answered, so that the next one is made at once.
        let second = try server.accept(2)
        #expect(try second.frames() == sent)
        try second.items(.deleted(0, 1, 2), on: 1)
        try second.end(1)
        #expect(request.answer.events == [.items([0, 2]), .items([1]), .success])
    }

    @Test func `requests are sent again in their order, before those that had waited`() throws {
        let server = ScriptedServer()
        var limits = Limits.defaults
        limits.inFlightMax = 3
        for count in 1...5 { _ = server.start(.fetch(count)) }
        let first = try server.accept(1, limits: limits)
        #expect(try first.requests().count == 3)
        try first.end(3)
        #expect(try first.requests().map(\.request.operation) == [.fetch(4)])
        first.breakOff()
        let second = try server.accept(2)
        #expect(
            try second.requests().map(\.request.operation) == [.fetch(1), .fetch(3), .fetch(4), .fetch(5)]
        )
    }

    @Test func `a cancelled request is not sent again, and without requests there is no new connection`()
        throws
    {
        let server = ScriptedServer()
        let request = server.start(.delete())
        let first = try server.accept(1)
        _ = try first.requests()
        request.cancel()
        server.tick()
        first.breakOff()
        server.pass(.seconds(60))
        #expect(server.connections.count == 1)
        _ = server.start(.fetch())
        #expect(try server.accept(2).requests().map(\.request.operation) == [.fetch()])
    }

    @Test func `a list of zones that was cut off starts afresh`() throws {
        let server = ScriptedServer()
        let request = server.start(.allZones)
        let first = try server.accept(1)
        _ = try first.requests()
        try first.items(.deleted(0, 1), on: 1)
        first.breakOff()
        let second = try server.accept(2)
        try second.items(.deleted(0), on: 1)
        try second.end(1)
        #expect(request.answer.events == [.items([0]), .success])
    }

    @Test func `a change is not sent again when the server may have forgotten its ID`() throws {
        let server = ScriptedServer { $0.connectTimeout = .seconds(20) }
        var limits = Limits.defaults
        limits.requestIDRetentionSeconds = 10
        let change = server.start(.delete())
        let read = server.start(.fetch())
        let first = try server.accept(1, limits: limits)
        #expect(try first.requests().count == 2)
        try first.items(.deleted(0), on: 3)
        first.breakOff()
        server.pass(.seconds(10))
        let second = try server.accept(2, limits: limits)
        #expect(try second.requests().map(\.request.operation) == [.fetch()])
        #expect(change.answer.events == [.failure(.responseLost)])
        #expect(read.answer.events == [.items([0])])
    }

    @Test func `a drain hands over: open streams are answered, refused and new ones move`() throws {
        let server = ScriptedServer()
        let answered = server.start(.delete(1))
        let refused = server.start(.delete(2))
        let first = try server.accept(1)
        let sent = try first.requests()
        try first.goAway(.drain)
        let new = server.start(.fetch(3))
        let busy = Failure(code: .serviceUnavailable, message: "draining", retry: .now)
        try first.end(3, busy)
        #expect(refused.answer.events.isEmpty)
        // The first one had answered nothing when it drained.
        server.pass(.milliseconds(100))
        let second = try server.accept(2)
        let moved = try second.requests()
        #expect(moved.map(\.request.operation) == [.delete(2), .fetch(3)])
        #expect(moved[0].request.requestID == sent[1].request.requestID)
        #expect(first.isOpen)
        try first.items(.deleted(0), on: 1)
        try first.end(1)
        #expect(answered.answer.events == [.items([0]), .success])
        #expect(!first.isOpen)
        try second.end(3)
        #expect(new.answer.events == [.success])
    }

    @Test func `the same refusal without a drain fails the request`() throws {
        let server = ScriptedServer()
        let request = server.start(.delete())
        let connection = try server.accept()
        _ = try connection.requests()
        let busy = Failure(code: .serviceUnavailable, message: "", retry: .now)
        try connection.end(1, busy)
        #expect(request.answer.events == [.failure(.refused(busy))])
    }

    private static func noRoom(_ milliseconds: UInt32) -> Failure {
        Failure(code: .requestRateLimited, message: "", retry: .after(milliseconds: milliseconds))
    }

    @Test func `a change that may have been executed is tried again when the server has no room`() throws {
        let server = ScriptedServer()
        let change = server.start(.delete())
        let first = try server.accept(1)
        let sent = try first.requests()
        first.breakOff()
        server.pass(.milliseconds(100))
        let second = try server.accept(2)
        #expect(try second.requests().map(\.request.requestID) == sent.map(\.request.requestID))
        try second.end(1, Self.noRoom(400))
        let read = server.start(.fetch())
        #expect(try second.requests().map(\.request.operation) == [.fetch()])
        server.pass(.milliseconds(399))
        #expect(try second.requests().isEmpty)
        server.pass(.milliseconds(2))
        #expect(try second.requests().map(\.request.requestID) == sent.map(\.request.requestID))
        #expect(change.answer.events.isEmpty)
        try second.items(.deleted(0), on: 5)
        try second.end(5)
        #expect(change.answer.events == [.items([0]), .success])
        #expect(read.answer.events.isEmpty)
    }

    @Test func `a server that has room at once is asked again after the shortest pause`() throws {
        let server = ScriptedServer { $0.backoffMin = .milliseconds(50) }
        _ = server.start(.delete())
        _ = try server.accept(1).requests()
        server.connections[0].breakOff()
        server.pass(.milliseconds(100))
        let second = try server.accept(2)
        #expect(try second.requests().count == 1)
        try second.end(1, Self.noRoom(0))
        server.pass(.milliseconds(49))
        #expect(try second.requests().isEmpty)
        server.pass(.milliseconds(2))
        #expect(try second.requests().count == 1)
    }

    @Test func `a request that waits for room can be cancelled, and fails when its time is over`() throws {
        let server = ScriptedServer()
        let cancelled = server.start(.delete(1))
        let late = server.start(.delete(2))
        _ = try server.accept(1).requests()
        server.connections[0].breakOff()
        server.pass(.milliseconds(100))
        let second = try server.accept(2)
        #expect(try second.requests().count == 2)
        try second.end(1, Self.noRoom(500))
        try second.end(3, Self.noRoom(10_000_000))
        cancelled.cancel()
        server.pass(.seconds(1))
        #expect(try second.requests().isEmpty)
        #expect(late.answer.events.isEmpty)
        server.pass(.hours(2))
        #expect(late.answer.events == [.failure(.responseLost)])
    }

    @Test func `a request that no broken connection has sent fails when the server has no room`() throws {
        let server = ScriptedServer()
        let change = server.start(.delete())
        let read = server.start(.fetch())
        let first = try server.accept(1)
        _ = try first.requests()
        try first.end(1, Self.noRoom(400))
        #expect(change.answer.events == [.failure(.refused(Self.noRoom(400)))])
        first.breakOff()
        server.pass(.milliseconds(100))
        let second = try server.accept(2)
        _ = try second.requests()
        try second.end(1, Self.noRoom(400))
        #expect(read.answer.events == [.failure(.refused(Self.noRoom(400)))])
    }

    @Test func `the server's time to come back is kept`() throws {
        let server = ScriptedServer { $0.backoffMin = .milliseconds(10) }
        _ = server.start(.fetch())
        let first = try server.accept(1)
        _ = try first.requests()
        try first.items(.deleted(0), on: 1)
        try first.goAway(.overloaded, retryAfterMilliseconds: 3_000)
        #expect(!first.isOpen)
        server.pass(.milliseconds(2_999))
        #expect(server.connections.count == 1)
        server.pass(.milliseconds(1))
        #expect(try server.accept(2).requests().map(\.request.operation) == [.fetch()])
    }

    @Test func `attempts go on with pauses until one succeeds`() throws {
        let server = ScriptedServer {
            $0.backoffMin = .milliseconds(100)
            $0.backoffMax = .milliseconds(100)
        }
        server.refuse(.broken("no"), .broken("no"))
        _ = server.start(.fetch())
        #expect(server.refusalsLeft == 1)
        server.pass(.milliseconds(99))
        #expect(server.refusalsLeft == 1)
        server.pass(.milliseconds(1))
        #expect(server.refusalsLeft == 0)
        server.pass(.milliseconds(100))
        #expect(try server.accept().requests().count == 1)
    }

    @Test func `a handshake that does not end in time is given up and tried again`() throws {
        let server = ScriptedServer {
            $0.connectTimeout = .seconds(2)
            $0.backoffMax = .milliseconds(50)
        }
        _ = server.start(.fetch())
        let first = try #require(server.connections.first)
        first.agree(on: "tidemark/1")
        server.pass(.seconds(2))
        #expect(!first.isOpen)
        server.pass(.milliseconds(50))
        #expect(try server.accept(2).requests().count == 1)
    }

    @Test func `a silent server is pinged and then left, and the request moves`() throws {
        let server = ScriptedServer()
        _ = server.start(.fetch(), requestTimeout: .seconds(300))
        let first = try server.accept(1)
        _ = try first.requests()
        server.pass(.seconds(40))
        #expect(try first.frames().map(\.kind) == [.ping])
        server.pass(.seconds(10))
        #expect(!first.isOpen)
        server.pass(.milliseconds(100))
        #expect(try server.accept(2).requests().count == 1)
    }

    @Test func `a pong keeps the connection`() throws {
        let server = ScriptedServer()
        _ = server.start(.fetch(), requestTimeout: .seconds(300))
        let connection = try server.accept()
        _ = try connection.requests()
        for _ in 0..<3 {
            server.pass(.seconds(40))
            let ping = try #require(try connection.frames().first)
            #expect(ping.kind == .ping)
            try connection.send(.pong, ping.payload)
        }
        #expect(connection.isOpen)
    }

    @Test func `an idle connection is not pinged`() throws {
        let server = ScriptedServer()
        _ = server.start(.fetch())
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.end(1)
        server.pass(.hours(10))
        #expect(try connection.frames().isEmpty)
        #expect(connection.isOpen)
        _ = server.start(.fetch())
        #expect(try connection.requests().map(\.stream) == [3])
        #expect(connection.isOpen)
    }
}
