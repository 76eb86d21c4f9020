import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

/// Ends that connecting again does not mend.
@Suite struct RejectionTests {
    @Test(arguments: [
        CloseReason.notAuthenticated, .containerUnknown, .versionUnsupported, .frameTooLarge, .creditExceeded,
    ])
    func `a terminal goaway ends all requests`(reason: CloseReason) throws {
        let server = ScriptedServer()
        let requests = [server.start(.fetch()), server.start(.delete())]
        let connection = try #require(server.connections.first)
        connection.agree(on: "tidemark/1")
        try connection.goAway(reason)
        for request in requests {
            guard case .failure(.rejected(reason, let message))? = request.answer.events.first else {
                Issue.record("not rejected: \(request.answer.events)")
                continue
            }
            // The container is named, and where it was looked for.
            let command = message.contains("tidemark container create iCloud.example")
            #expect(
                reason == .containerUnknown
                    ? command && message.contains("db.example:7430") : message == "bye"
            )
        }
        #expect(!connection.isOpen)
        server.pass(.hours(1))
        #expect(server.connections.count == 1)
    }

    @Test(arguments: [CloseReason.overloaded, .idle, .slowReader, .handshakeTimeout, .internalError])
    func `any other goaway is followed by another attempt`(reason: CloseReason) throws {
        let server = ScriptedServer()
        let request = server.start(.delete())
        let first = try server.accept(1)
        let sent = try first.frames()
        try first.goAway(reason)
        server.pass(.milliseconds(100))
        #expect(try server.accept(2).frames() == sent)
        #expect(request.answer.events.isEmpty)
    }

    @Test(arguments: [
        (CloseReason.overloaded, true), (.drain, true), (.idle, false), (.internalError, false),
    ])
    func `a caller that only wants a connection learns that the server takes none for now`(
        reason: CloseReason,
        isForNow: Bool
    ) {
        let end = ConnectionEnd.goneAway(GoAway(reason: reason, message: "bye"))
        #expect(end.refusalForNow == (isForNow ? .rejected(reason: reason, message: "bye") : nil))
        #expect(ConnectionEnd.broken("no route").refusalForNow == nil)
    }

    @Test func `bytes that are no frame of the protocol end all requests and the connection`() throws {
        let server = ScriptedServer()
        let request = server.start(.delete())
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.send(ByteBuffer(repeating: 0xFF, count: 64))
        let error = WireError(.frameTooLarge, field: "payload bytes")
        #expect(request.answer.events == [.failure(.protocolViolation(error))])
        let frame = try #require(try connection.frames().first)
        #expect(frame.kind == .goaway)
        #expect(try GoAway(decoding: frame.payload).reason == .frameTooLarge)
        #expect(!connection.isOpen)
    }

    @Test(arguments: [
        (
            Frame(kind: .items, stream: 1, payload: ByteBuffer(bytes: [0x0A, 0x05])),
            CloseReason.messageMalformed
        ),
        (Frame(kind: .items, stream: 9, payload: Items(items: .deleted(0)).encoded()), .streamInvalid),
        (Frame(kind: .items, stream: 1, payload: Items(items: .deleted(2)).encoded()), .messageMalformed),
        (Frame(kind: .end, stream: 3), .streamInvalid),
        (Frame(kind: .credit, payload: Credit(bytes: 0x7FFF_FFFF).encoded()), .creditInvalid),
        (Frame(kind: .ping, payload: ByteBuffer(bytes: [1])), .messageMalformed),
        (Frame(kind: .request, stream: 2), .frameKindUnexpected),
        (
            Frame(kind: .notificationAck, payload: NotificationAck(number: 1).encoded()), .frameKindUnexpected
        ),
        (Frame(kind: .notification, payload: Notification.sample(1).encoded()), .frameKindUnexpected),
        (
            Frame(
                kind: .assetData,
                stream: 1,
                payload: AssetData(item: 0, offset: 0, bytes: ByteBuffer(bytes: [1])).encoded()
            ), .frameKindUnexpected
        ),
        (Frame(kind: .assetData, stream: 1), .messageMalformed),
        (Frame(kind: .progress, stream: 1), .frameKindUnexpected),
        (Frame(kind: .assetOffsets, stream: 1), .frameKindUnexpected),
        (Frame(kind: FrameKind(rawValue: 127), stream: 1), .frameKindUnexpected),
    ])
    func `a frame that breaks the protocol is answered with its reason`(
        frame: Frame,
        reason: CloseReason
    ) throws {
        let server = ScriptedServer()
        let request = server.start(.delete(2))
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.send(frame)
        guard case .failure(.protocolViolation)? = request.answer.events.first else {
            Issue.record("no violation: \(request.answer.events)")
            return
        }
        let goAway = try #require(try connection.frames().last)
        #expect(try GoAway(decoding: goAway.payload).reason == reason)
        #expect(!connection.isOpen)
    }

    @Test func `kinds from 128 on are ignored`() throws {
        let server = ScriptedServer()
        let request = server.start(.delete())
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.send(
            Frame(kind: FrameKind(rawValue: 128), stream: 1, payload: ByteBuffer(string: "new"))
        )
        #expect(request.answer.events.isEmpty)
        #expect(connection.isOpen)
    }

    @Test func `frames behind a violation in the same read are ignored`() throws {
        let server = ScriptedServer()
        let request = server.start(.delete())
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.send(
            Frame(kind: .end, stream: 9),
            Frame(kind: .items, stream: 1, payload: Items(items: .deleted(0)).encoded()),
            Frame(kind: .end, stream: 1)
        )
        #expect(request.answer.events.count == 1)
    }

    @Test func `a server of another protocol has another error than one that is down`() throws {
        let server = ScriptedServer()
        let request = server.start(.fetch())
        let connection = try #require(server.connections.first)
        connection.agree(on: nil)
        #expect(try connection.frames().isEmpty, "the token stays here")
        guard case .failure(.misconfigured(let text))? = request.answer.events.first else {
            Issue.record("not misconfigured: \(request.answer.events)")
            return
        }
        #expect(text.contains("does not speak tidemark/1"))
        #expect(!connection.isOpen)
    }

    @Test func `a released client ends its requests and closes its connection`() throws {
        let server = ScriptedServer()
        let sent = server.start(.delete())
        let connection = try server.accept()
        _ = try connection.requests()
        server.letGoOfClient()
        #expect(sent.answer.events == [.failure(.closed)])
        #expect(!connection.isOpen)
    }

    @Test func `a client that is released during its backoff makes no connection`() throws {
        let server = ScriptedServer()
        server.refuse(.broken("no"))
        let request = server.start(.delete())
        server.letGoOfClient()
        server.pass(.hours(1))
        #expect(request.answer.events == [.failure(.closed)])
        #expect(server.connections.isEmpty)
    }
}
