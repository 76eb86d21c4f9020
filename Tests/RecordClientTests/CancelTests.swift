import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

/// Cancelled requests, and those whose time is over.
@Suite struct CancelTests {
    @Test func `a waiting request that is cancelled is never sent`() throws {
        let server = ScriptedServer()
        let request = server.start(.delete())
        _ = server.start(.fetch())
        request.cancel()
        server.tick()
        #expect(request.answer.events == [.failure(.cancelled)])
        let connection = try server.accept()
        #expect(try connection.requests().map(\.request.operation) == [.fetch()])
    }

    @Test func `a request in flight is cancelled at the server, ends at once and delivers nothing more`()
        throws
    {
        let server = ScriptedServer()
        let request = server.start(.delete(2))
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.items(.deleted(0), on: 1)
        request.cancel()
        request.cancel()
        server.tick()
        #expect(try connection.frames() == [Frame(kind: .cancel, stream: 1)])
        try connection.items(.deleted(1), on: 1)
        try connection.end(1)
        #expect(request.answer.events == [.items([0]), .failure(.cancelled)])
        #expect(connection.isOpen)
    }

    @Test func `a cancelled stream counts as in flight until the server ends it`() throws {
        let server = ScriptedServer()
        var limits = Limits.defaults
        limits.inFlightMax = 1
        let request = server.start(.fetch())
        _ = server.start(.delete())
        let connection = try server.accept(limits: limits)
        #expect(try connection.requests().count == 1)
        request.cancel()
        server.tick()
        #expect(try connection.frames().map(\.kind) == [.cancel])
        let failure = Failure(code: .operationCancelled, message: "", retry: .never)
        try connection.end(1, failure)
        #expect(try connection.requests().map(\.request.operation) == [.delete()])
    }

    @Test func `silence ends a read as unreachable, to the nanosecond`() throws {
        let server = ScriptedServer()
        let request = server.start(.fetch(), requestTimeout: .seconds(5))
        let connection = try server.accept()
        _ = try connection.requests()
        server.pass(.seconds(5) - .nanoseconds(1))
        #expect(request.answer.events.isEmpty)
        server.pass(.nanoseconds(1))
        #expect(
            request.answer.events
                == [.failure(.unreachable(description: "db.example:7430 did not answer in time"))]
        )
        #expect(try connection.frames() == [Frame(kind: .cancel, stream: 1)])
    }

    @Test func `silence after a change was sent leaves its effect unknown`() throws {
        let server = ScriptedServer()
        let request = server.start(.delete(), requestTimeout: .seconds(5))
        let connection = try server.accept()
        _ = try connection.requests()
        server.pass(.seconds(5))
        #expect(request.answer.events == [.failure(.responseLost)])
    }

    @Test func `a change that was never sent has no effect, and the reason is told`() throws {
        let server = ScriptedServer()
        server.refuse(.broken("the connection was refused"))
        let request = server.start(.delete(), requestTimeout: .seconds(5))
        server.pass(.seconds(5))
        let text = "Cannot connect to db.example:7430: the connection was refused"
        #expect(request.answer.events == [.failure(.unreachable(description: text))])
    }

    @Test func `a request that can't be sent ends when there was no connection for so long`() throws {
        let server = ScriptedServer()
        server.refuse(.offline("this machine has no network"))
        server.refuse(Array(repeating: .broken("refused"), count: 10))
        let request = server.start(.delete(), connectionTimeout: .seconds(5))
        let patient = server.start(.delete())
        server.pass(.seconds(5) - .nanoseconds(1))
        #expect(request.answer.events.isEmpty)
        server.pass(.nanoseconds(1))
        #expect(
            request.answer.events
                == [.failure(.unreachable(description: "Cannot connect to db.example:7430: refused"))]
        )
        #expect(patient.answer.events.isEmpty, "it waits as long as for an answer")
    }

    @Test func `a machine without a network gets an error of its own`() throws {
        let server = ScriptedServer()
        server.refuse(Array(repeating: .offline("this machine has no network"), count: 20))
        let request = server.start(.fetch(), connectionTimeout: .seconds(5))
        server.pass(.seconds(5))
        let text = "Cannot connect to db.example:7430: this machine has no network"
        #expect(request.answer.events == [.failure(.offline(description: text))])
    }

    @Test func `a request that was sent is sent again, however long the connection is away`() throws {
        let server = ScriptedServer()
        let sent = server.start(.delete(), connectionTimeout: .seconds(5))
        let first = try server.accept(1)
        #expect(try first.requests().count == 1)
        server.refuse(Array(repeating: .broken("refused"), count: 50))
        first.breakOff()
        let late = server.start(.delete(), connectionTimeout: .seconds(5))
        server.pass(.seconds(6))
        #expect(late.answer.events.count == 1, "it was never sent")
        server.pass(.seconds(50))
        #expect(sent.answer.events.isEmpty)
        server.pass(.seconds(5))
        #expect(sent.answer.events == [.failure(.responseLost)], "its longest silence")
    }

    @Test func `a request that waits on a connection is not without one`() throws {
        let server = ScriptedServer()
        let requests = (0..<2).map { _ in server.start(.fetch(), connectionTimeout: .seconds(5)) }
        var limits = Limits.defaults
        limits.inFlightMax = 1
        let connection = try server.accept(1, limits: limits)
        #expect(try connection.requests().count == 1)
        server.pass(.seconds(20))
        #expect(requests.allSatisfy { $0.answer.events.isEmpty })
        // From here on there is none.
        server.refuse(Array(repeating: .broken("refused"), count: 50))
        connection.breakOff()
        server.pass(.seconds(5))
        #expect(requests.map(\.answer.events.count) == [0, 1])
    }

    @Test func `each item starts the silence again, and the total time ends it all the same`() throws {
        let server = ScriptedServer()
        let request = server.start(.fetch(9), requestTimeout: .seconds(5), resourceTimeout: .seconds(12))
        let connection = try server.accept()
        _ = try connection.requests()
        for index in UInt32(0)..<2 {
            server.pass(.seconds(4))
            try connection.items(.deleted(index), on: 1)
        }
        server.pass(.seconds(4) - .nanoseconds(1))
        #expect(request.answer.events == [.items([0]), .items([1])])
        server.pass(.nanoseconds(1))
        #expect(request.answer.events.count == 3)
    }

    @Test func `a request with less time than those before it ends in time`() throws {
        let server = ScriptedServer()
        let long = server.start(.fetch(), requestTimeout: .seconds(50))
        let short = server.start(.fetch(), requestTimeout: .seconds(1))
        _ = try server.accept()
        server.pass(.seconds(1))
        #expect(short.answer.events.count == 1)
        #expect(long.answer.events.isEmpty)
    }
}
