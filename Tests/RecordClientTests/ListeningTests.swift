import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

/// Listening, as transcripts.
@Suite struct ListeningTests {
    /// A server whose client listens on its first connection.
    private func listening(
        configure: (inout ClientConfiguration) -> Void = { _ in }
    ) throws -> (server: ScriptedServer, connection: ScriptedConnection, started: StartedListening) {
        let server = ScriptedServer(configure: configure)
        let started = try #require(server.listen())
        let connection = try server.accept()
        try connection.acceptListener()
        return (server, connection, started)
    }

    @Test func `a listener connects, sends listen, and gets events in order`() throws {
        let (_, connection, started) = try self.listening()
        try connection.notify(1, 2, 3)
        #expect(
            started.heard.events == [
                .began(user: "_user"), .notification(connection: 1, number: 1),
                .notification(connection: 1, number: 2), .notification(connection: 1, number: 3),
            ]
        )
        #expect(try connection.frames().isEmpty, "nothing is acknowledged by itself")
    }

    @Test func `handled notifications are acknowledged in one frame`() throws {
        let (server, connection, started) = try self.listening()
        try connection.notify(1, 2, 3)
        started.acknowledge(1)
        started.acknowledge(2)
        server.tick()
        #expect(try connection.acknowledgements() == [2])
        started.acknowledge(2)
        started.acknowledge(1)
        server.tick()
        #expect(try connection.acknowledgements().isEmpty)
        started.acknowledge(3)
        server.tick()
        #expect(try connection.acknowledgements() == [3])
    }

    @Test func `a connection that is open already is asked, among other requests`() throws {
        let server = ScriptedServer()
        let request = server.start(.fetch())
        let connection = try server.accept()
        #expect(try connection.requests().map(\.stream) == [1])
        let started = try #require(server.listen())
        try connection.acceptListener()
        try connection.notify(1)
        try connection.end(1)
        #expect(started.heard.keys == [NotificationKey(connection: 1, number: 1)])
        #expect(request.answer.events == [.success])
        #expect(server.connections.count == 1)
    }

    @Test func `a connection that breaks is made again and asked again, with numbers of its own`() throws {
        let (server, first, started) = try self.listening()
        try first.notify(1)
        first.breakOff()
        server.pass(.seconds(1))
        let second = try server.accept(2)
        try second.acceptListener()
        try second.notify(1)
        started.acknowledge(1, of: 1)
        server.tick()
        #expect(try second.frames().isEmpty, "it was another connection's")
        started.acknowledge(1, of: 2)
        server.tick()
        #expect(try second.acknowledgements() == [1])
        #expect(started.heard.keys.map(\.connection) == [1, 2])
        #expect(started.heard.interruptions.count == 1)
    }

    @Test func `it connects again for ever, after pauses of at most the longest`() throws {
        let server = ScriptedServer { $0.backoffMax = .seconds(2) }
        server.refuse(Array(repeating: .broken("refused"), count: 100))
        let started = try #require(server.listen())
        for _ in 0..<200 where server.refusalsLeft > 0 { server.pass(.seconds(1)) }
        #expect(server.refusalsLeft == 0)
        server.pass(.seconds(2))
        let pauses = started.heard.events.compactMap { event -> Duration? in
            guard case .interrupted(.unreachable(let text), let retryIn) = event else { return nil }
            #expect(text == "Cannot connect to db.example:7430: refused")
            return retryIn
        }
        #expect(pauses.count == 100)
        #expect(pauses.allSatisfy { $0 >= .milliseconds(50) && $0 <= .seconds(2) })
        try server.accept(1).acceptListener()
        #expect(started.heard.events.last == .began(user: "_user"))
    }

    @Test func `a server that does not know the token any more is asked again, requests are not`() throws {
        let (server, first, started) = try self.listening()
        let request = server.start(.fetch())
        try first.goAway(.notAuthenticated)
        let error = ClientError.rejected(reason: .notAuthenticated, message: "bye")
        #expect(request.answer.events == [.failure(error)])
        #expect(started.heard.interruptions == [error])
        server.pass(.seconds(1))
        let second = server.connections[1]
        second.agree(on: "tidemark/1")
        try second.goAway(.notAuthenticated)
        #expect(started.heard.interruptions == [error, error])
        server.pass(.seconds(1))
        try server.accept(3).acceptListener()
        #expect(started.heard.events.last == .began(user: "_user"))
    }

    @Test func `the backoff grows if a server accepts listeners and closes at once`()
        throws
    {
        let server = ScriptedServer { $0.backoffMax = .seconds(8) }
        let started = try #require(server.listen())
        for number in 1...20 {
            let connection = try server.accept(number)
            try connection.acceptListener()
            connection.breakOff()
            server.pass(.seconds(8))
        }
        let pauses = started.heard.events.compactMap { event -> Duration? in
            if case .interrupted(_, let retryIn) = event { retryIn } else { nil }
        }
        #expect(pauses.count == 20 && pauses.allSatisfy { $0 > .zero })
        #expect(pauses.contains { $0 > .seconds(1) }, "\(pauses)")
    }

    @Test func `after a connection that lasted the next attempt is made at once`() throws {
        let (server, first, started) = try self.listening { $0.backoffMax = .seconds(8) }
        server.pass(.seconds(8))
        first.breakOff()
        #expect(server.connections.count == 2)
        guard case .interrupted(_, retryIn: .zero)? = started.heard.events.last else {
            Issue.record("\(started.heard.events)")
            return
        }
    }

    @Test func `a drain moves the listener to the next connection, which repeats late notifications`() throws
    {
        let (server, first, started) = try self.listening()
        try first.notify(1)
        let request = server.start(.fetch())
        let stream = try #require(try first.requests().first).stream
        started.acknowledge(1)
        server.tick()
        try first.goAway(.drain)
        #expect(try first.acknowledgements() == [1])
        try first.notify(2)
        #expect(started.heard.keys.map(\.number) == [1])
        server.pass(.seconds(1))
        let second = try server.accept(2)
        try second.acceptListener()
        try first.end(stream)
        #expect(request.answer.events == [.success])
        #expect(!first.isOpen && second.isOpen)
    }

    @Test func `stopping the listener closes the connection after the last acknowledgement`() throws {
        let (server, connection, started) = try self.listening()
        try connection.notify(1)
        started.acknowledge(1)
        started.stop()
        #expect(try connection.acknowledgements() == [1])
        #expect(!connection.isOpen)
        server.pass(.hours(1))
        #expect(server.connections.count == 1)
        #expect(started.heard.events == [.began(user: "_user"), .notification(connection: 1, number: 1)])
        let again = try #require(server.listen())
        try server.accept(2).acceptListener()
        #expect(again.heard.events == [.began(user: "_user")])
    }

    @Test func `stopping the listener does not interrupt other requests`() throws {
        let (server, connection, started) = try self.listening()
        let request = server.start(.delete())
        let stream = try #require(try connection.requests().first).stream
        started.stop()
        try connection.items(.deleted(0), on: stream)
        try connection.end(stream)
        #expect(request.answer.events == [.items([0]), .success])
        #expect(!connection.isOpen)
    }

    @Test func `stopping the listener without a connection ends the attempts`() throws {
        let server = ScriptedServer()
        server.refuse(.broken("no"))
        let started = try #require(server.listen())
        started.stop()
        server.pass(.hours(1))
        #expect(server.connections.isEmpty)
    }

    @Test func `after a temporary refusal listen is sent again on the same connection`() throws {
        let server = ScriptedServer()
        let started = try #require(server.listen())
        let connection = try server.accept()
        let busy = Failure(code: .requestRateLimited, message: "later", retry: .after(milliseconds: 2_000))
        try connection.acceptListener(busy)
        #expect(started.heard.interruptions == [.refused(busy)])
        server.pass(.milliseconds(1_999))
        #expect(try connection.frames().isEmpty)
        server.pass(.seconds(1))
        try connection.acceptListener()
        #expect(started.heard.events.last == .began(user: "_user"))
        #expect(server.connections.count == 1)
    }

    @Test func `after a permanent refusal listen is sent again on the next connection`() throws {
        let server = ScriptedServer()
        let started = try #require(server.listen())
        let first = try server.accept()
        let never = Failure(code: .notAuthenticated, message: "no", retry: .never)
        try first.acceptListener(never)
        #expect(started.heard.events == [.interrupted(.refused(never), retryIn: nil)])
        server.pass(.seconds(30))
        #expect(try first.frames().isEmpty)
        first.breakOff()
        server.pass(.seconds(1))
        try server.accept(2).acceptListener()
        #expect(started.heard.events.last == .began(user: "_user"))
    }

    @Test func `a server that breaks the protocol gets the reason, and listen again after a pause`() throws {
        let (server, first, started) = try self.listening()
        try first.notify(1, 3)
        #expect(!first.isOpen)
        #expect(
            started.heard.interruptions == [
                .protocolViolation(WireError(.outOfBounds, field: "Notification.number"))
            ]
        )
        let frame = try #require(try first.frames().first)
        #expect(try GoAway(decoding: frame.payload).reason == .messageMalformed)
        #expect(server.connections.count == 1)
        server.pass(.seconds(1))
        try server.accept(2).acceptListener()
    }

    @Test func `a connection with a listener is checked for silence`() throws {
        let (server, first, started) = try self.listening()
        server.pass(.seconds(41))
        let frame = try #require(try first.frames().first)
        #expect(frame.kind == .ping)
        try first.send(.pong, frame.payload)
        server.pass(.seconds(41))
        #expect(try first.frames().map(\.kind) == [.ping])
        server.pass(.seconds(11))
        #expect(!first.isOpen)
        #expect(
            started.heard.interruptions == [
                .unreachable(
                    description: "The connection to db.example:7430 ended: the server has stopped answering"
                )
            ]
        )
        #expect(server.connections.count == 2)
    }

    @Test func `a listener gets the last event when its client is released`() throws {
        let (server, connection, started) = try self.listening()
        server.letGoOfClient()
        #expect(started.heard.events == [.began(user: "_user"), .ended])
        #expect(!connection.isOpen)
    }
}
