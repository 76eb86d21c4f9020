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
        var limits = Limits.generous
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
