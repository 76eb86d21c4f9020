import NIOCore
import RecordModel
import RecordStore
import Testing
import WireProtocol

@testable import RecordServer

/// Listeners that do what they must not, or nothing at all.
@Suite(.timeLimit(.minutes(10)))
struct ListenerViolationTests {
    @Test func `listening needs a user and an installation`() async throws {
        try await ServerUnderTest.run { server in
            let nobody = try await server.signIn(installation: ServerUnderTest.installation, token: "")
            try await nobody.send(.listen, on: 1)
            #expect(try await nobody.answer(on: 1).end.failure?.code == .notAuthenticated)
            let nowhere = try await server.signIn()
            try await nowhere.send(.listen, on: 1)
            #expect(try await nowhere.answer(on: 1).end.failure?.code == .invalidArguments)
            // The connection stays open, and deaf.
            try await nowhere.expectSilence()
            try await nowhere.acknowledge(1)
            try await HandshakeTests.expectGoaway(.frameKindUnexpected, from: nowhere)
        }
    }

    @Test func `listening twice changes nothing, at once or later`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.zone())
            let listener = try await server.signIn(installation: ServerUnderTest.installation)
            try await listener.send([1, 3, 5].map { .request(.listen, on: $0) })
            for stream in [1, 3, 5] as [UInt32] {
                #expect(try await listener.answer(on: stream).end == End())
            }
            try await writer.succeed(.save(["a"]))
            #expect(try await listener.notification().number == 1)
            try await listener.send(.listen, on: 7)
            #expect(try await listener.answer(on: 7).end == End())
            try await writer.succeed(.save(["b"]))
            #expect(try await listener.notification().number == 2)
            try await listener.expectSilence()
        }
    }

    @Test func `an acknowledgement of what was not sent closes, and of what was taken is a control frame`()
        async throws
    {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.zone())
            let first = try await server.listen()
            try await first.acknowledge(1)
            try await HandshakeTests.expectGoaway(.messageMalformed, from: first)

            let second = try await server.listen()
            let third = try await server.listen()
            try await writer.succeed(.save(["a"]))
            #expect(try await second.notification().number == 1)
            #expect(try await third.notification().number == 1)
            try await second.acknowledge(2)
            try await HandshakeTests.expectGoaway(.messageMalformed, from: second)

            let again = Frame(kind: .notificationAck, payload: NotificationAck(number: 1).encoded())
            try await third.send(Array(repeating: again, count: 1_000))
            try await third.expectSilence()
            try await third.send(Array(repeating: again, count: 3_000))
            try await HandshakeTests.expectGoaway(.tooManyControlFrames, from: third)
            #expect(server.log.complaints.allSatisfy { $0.metadata["detail"] == "notification_ack" })
        }
    }

    @Test func `an acknowledgement belongs to stream 0, and after the handshake`() async throws {
        try await ServerUnderTest.run { server in
            let payload = NotificationAck(number: 1).encoded()
            let listener = try await server.listen()
            try await listener.send(Frame(kind: .notificationAck, stream: 1, payload: payload))
            try await HandshakeTests.expectGoaway(.streamInvalid, from: listener)
            let early = try await server.connect()
            try await early.send(Frame(kind: .notificationAck, payload: payload))
            try await HandshakeTests.expectGoaway(.requestBeforeHello, from: early)
            let garbled = try await server.listen()
            try await garbled.send(Frame(kind: .notificationAck, payload: ByteBuffer(bytes: [0xFF])))
            try await HandshakeTests.expectGoaway(.messageMalformed, from: garbled)
            let confused = try await server.listen()
            try await confused.send(Frame(kind: .notification, payload: payload))
            try await HandshakeTests.expectGoaway(.frameKindUnexpected, from: confused)
        }
    }

    @Test func `a listener that does not read is closed, and others hear everything meanwhile`() async throws
    {
        try await ServerUnderTest.run(configure: { $0.timeouts.slowReader = .seconds(1) }) { server in
            try await server.fill(records: 1, bytes: 1_000_000)
            let writer = try await server.writer()
            try await writer.subscribe(.notes())
            let windows = Windows(connectionBytes: 0x7FFF_FFFF, streamBytes: 0x7FFF_FFFF)
            let silent = try await server.listen(windows: windows)
            let listener = try await server.listen(installation: [UInt8](repeating: 2, count: 16))
            try await silent.channel.setOption(.autoRead, value: false).get()
            // More answers than the kernel's buffers on both sides take: then nothing more can be written.
            try await silent.send((1..<50).map { .request(.fetch(["0"]), on: UInt32(2 * $0 + 1)) })
            var number: UInt64 = 0
            while server.log.complaints.isEmpty || number <= 64 {
                number += 1
                try await writer.succeed(.save(["\(number) more"]))
                #expect(try await listener.notification().number == number)
                try await listener.acknowledge(number)
            }
            #expect(
                server.log.complaints.map { $0.metadata["reason"] } == [CloseReason.slowReader.text]
            )
            await silent.close()
        }
    }

    @Test func `a listener that never acknowledges stays, and holds up nobody`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.notes())
            let silent = try await server.listen()
            let listener = try await server.listen(installation: [UInt8](repeating: 2, count: 16))
            for number in 1...UInt64(200) {
                try await writer.succeed(.save(["\(number)"]))
                #expect(try await listener.notification().number == number)
                try await listener.acknowledge(number)
            }
            #expect(try await silent.notifications(64).last?.number == 64)
            try await silent.expectSilence()
            try await silent.acknowledge(64)
            var last = try await silent.notification()
            #expect(last.isCoalesced)
            let id = RecordID(zone: ServerUnderTest.zone, recordName: "200")
            // On a busy machine the last change is still on its way to this connection's event loop.
            while last.event != .query(Notification.RecordChange(id: id, reason: .recordCreated)) {
                last = try await silent.notification()
            }
        }
    }

    @Test func `a drain ends a listener`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.zone())
            let listener = try await server.listen()
            try await writer.succeed(.save(["a"]))
            #expect(try await listener.notification().number == 1)
            await server.server.shutdown(grace: .seconds(30))
            try await HandshakeTests.expectGoaway(.drain, from: listener)
        }
    }

    @Test func `those who come and go while others write leave the server as it was`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.zone(), .database(), .notes())
            for round in 0..<20 {
                let early = try await server.signIn(installation: ServerUnderTest.installation)
                try await early.send(.listen, on: 1)
                if round.isMultiple(of: 2) { await early.close() }
                try await writer.succeed(.save(["\(round)"]))
                await early.close()
            }
            let listener = try await server.listen()
            let news = try await listener.notifications(3)
            #expect(Set(news.map(\.subscriptionID)) == ["zone", "database", "notes"])
            try await writer.succeed(.save(["last"]))
            let live = try await listener.notifications(3)
            #expect(Set(live.map(\.subscriptionID)) == ["zone", "database", "notes"])
            #expect(live.allSatisfy { $0.committedMilliseconds > 0 })
        }
    }
}
