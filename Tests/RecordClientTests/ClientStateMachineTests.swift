import NIOCore
import RecordModel
import Testing
import Transport
import WireProtocol

@testable import RecordClient

@Suite struct ClientStateMachineTests {
    private static let granted = Windows(connectionBytes: 1_000, streamBytes: 100)

    private func welcome(inFlightMax: UInt32 = 128, windowBytes: UInt32 = 1_000) -> Welcome {
        var limits = Limits.defaults
        limits.inFlightMax = inFlightMax
        return Welcome(
            version: 1,
            server: "",
            userRecordName: "",
            serverTimeMilliseconds: 0,
            limits: limits,
            windows: Windows(connectionBytes: windowBytes, streamBytes: 1_000)
        )
    }

    /// A machine past its handshake.
    private func opened(inFlightMax: UInt32 = 128, windowBytes: UInt32 = 1_000) -> ClientStateMachine {
        var machine = ClientStateMachine(windows: Self.granted)
        _ = machine.connected()
        _ = machine.welcomeReceived(self.welcome(inFlightMax: inFlightMax, windowBytes: windowBytes))
        return machine
    }

    @Test func `hello, welcome, request, items, end`() {
        var machine = ClientStateMachine(windows: Self.granted)
        let beforeTLS = machine.requestReady()
        #expect(beforeTLS == .wait)
        let connected = machine.connected()
        #expect(connected == .sendHello)
        let again = machine.connected()
        #expect(again == .ignore)
        let beforeWelcome = machine.requestReady()
        #expect(beforeWelcome == .wait)
        let welcomed = machine.welcomeReceived(self.welcome())
        #expect(welcomed == .announce)
        let first = machine.requestReady()
        #expect(first == .open(stream: 1))
        machine.requestSent(stream: 1, payloadBytes: 10)
        let second = machine.requestReady()
        #expect(second == .open(stream: 3))
        let items = machine.itemsReceived(stream: 1, payloadBytes: 10)
        #expect(items == .deliver)
        let end = machine.endReceived(stream: 1)
        #expect(end == .finish)
        let after = machine.itemsReceived(stream: 1, payloadBytes: 10)
        #expect(after == .close(.streamUnknown))
    }

    @Test func `frames before the welcome are violations`() {
        func waiting() -> ClientStateMachine {
            var machine = ClientStateMachine(windows: Self.granted)
            _ = machine.connected()
            return machine
        }
        var first = waiting()
        let items = first.itemsReceived(stream: 1, payloadBytes: 1)
        #expect(items == .close(.frameUnexpected))
        var second = waiting()
        let end = second.endReceived(stream: 1)
        #expect(end == .close(.frameUnexpected))
        var third = waiting()
        let credit = third.creditReceived(stream: 0, bytes: 1)
        #expect(credit == .close(.frameUnexpected))
    }

    @Test func `a second welcome is a violation, and what follows is ignored`() {
        var machine = self.opened()
        let welcomed = machine.welcomeReceived(self.welcome())
        #expect(welcomed == .close(.frameUnexpected))
        let items = machine.itemsReceived(stream: 1, payloadBytes: 1)
        #expect(items == .ignore)
        let request = machine.requestReady()
        #expect(request == .refuse)
    }

    @Test func `an end for a stream that is not open is a violation`() {
        var machine = self.opened()
        let end = machine.endReceived(stream: 1)
        #expect(end == .close(.streamUnknown))
    }

    @Test func `as many requests are in flight as the server allows`() {
        var machine = self.opened(inFlightMax: 2)
        machine.requestSent(stream: 1, payloadBytes: 1)
        let second = machine.requestReady()
        #expect(second == .open(stream: 3))
        machine.requestSent(stream: 3, payloadBytes: 1)
        let third = machine.requestReady()
        #expect(third == .wait)
        _ = machine.endReceived(stream: 1)
        let later = machine.requestReady()
        #expect(later == .open(stream: 5))
    }

    @Test func `requests wait for credit from its last byte on`() {
        var machine = self.opened(windowBytes: 100)
        machine.requestSent(stream: 1, payloadBytes: 99)
        let withOneByte = machine.requestReady()
        #expect(withOneByte == .open(stream: 3))
        machine.requestSent(stream: 3, payloadBytes: 50)
        let without = machine.requestReady()
        #expect(without == .wait)
        let ofStream = machine.creditReceived(stream: 1, bytes: 1_000)
        let stillWithout = machine.requestReady()
        #expect(ofStream == .resume && stillWithout == .wait)
        _ = machine.creditReceived(stream: 0, bytes: 49)
        let atZero = machine.requestReady()
        #expect(atZero == .wait)
        _ = machine.creditReceived(stream: 0, bytes: 1)
        let again = machine.requestReady()
        #expect(again == .open(stream: 5))
    }

    @Test func `items beyond a stream's window are a violation`() {
        var machine = self.opened()
        machine.requestSent(stream: 1, payloadBytes: 1)
        let first = machine.itemsReceived(stream: 1, payloadBytes: 99)
        let second = machine.itemsReceived(stream: 1, payloadBytes: 1)
        #expect(first == .deliver && second == .deliver)
        let third = machine.itemsReceived(stream: 1, payloadBytes: 1)
        #expect(third == .close(.creditExceeded))
    }

    @Test func `items beyond the connection's window are a violation`() {
        var machine = self.opened()
        for stream in [UInt32(1), 3, 5] { machine.requestSent(stream: stream, payloadBytes: 1) }
        let first = machine.itemsReceived(stream: 1, payloadBytes: 999)
        let second = machine.itemsReceived(stream: 3, payloadBytes: 1)
        #expect(first == .deliver && second == .deliver)
        let third = machine.itemsReceived(stream: 5, payloadBytes: 1)
        #expect(third == .close(.creditExceeded))
    }

    @Test func `half of each window is granted back, of a stream only while it is open`() {
        var machine = self.opened()
        machine.requestSent(stream: 1, payloadBytes: 1)
        _ = machine.itemsReceived(stream: 1, payloadBytes: 49)
        let none = machine.itemsConsumed(stream: 1, payloadBytes: 49)
        #expect(none == .nothing)
        _ = machine.itemsReceived(stream: 1, payloadBytes: 1)
        let ofStream = machine.itemsConsumed(stream: 1, payloadBytes: 1)
        #expect(ofStream == ClientSide.Grants(connectionBytes: 0, streamBytes: 50))
        _ = machine.itemsReceived(stream: 1, payloadBytes: 450)
        _ = machine.endReceived(stream: 1)
        let ofConnection = machine.itemsConsumed(stream: 1, payloadBytes: 450)
        #expect(ofConnection == ClientSide.Grants(connectionBytes: 500, streamBytes: 0))
    }

    @Test func `a draining connection takes nothing new and closes with its last stream`() {
        var machine = self.opened()
        machine.requestSent(stream: 1, payloadBytes: 1)
        machine.requestSent(stream: 3, payloadBytes: 1)
        let drain = machine.goAwayReceived(.drain)
        #expect(drain == .drain)
        let request = machine.requestReady()
        #expect(request == .refuse)
        let first = machine.endReceived(stream: 3)
        #expect(first == .finish)
        let items = machine.itemsReceived(stream: 1, payloadBytes: 1)
        #expect(items == .deliver)
        let last = machine.endReceived(stream: 1)
        #expect(last == .finishAndClose)
        let wasOpen = machine.connectionEnded()
        #expect(!wasOpen)
    }

    @Test func `a drain without open streams closes at once`() {
        var machine = self.opened()
        let drain = machine.goAwayReceived(.drain)
        #expect(drain == .close)
    }

    @Test(arguments: [CloseReason.notAuthenticated, .overloaded, .creditExceeded])
    func `any other goaway closes`(reason: CloseReason) {
        var machine = self.opened()
        machine.requestSent(stream: 1, payloadBytes: 1)
        let close = machine.goAwayReceived(reason)
        #expect(close == .close)
        let again = machine.goAwayReceived(reason)
        #expect(again == .ignore)
    }

    @Test func `a stream is cancelled until it has ended`() {
        var machine = self.opened()
        machine.requestSent(stream: 1, payloadBytes: 1)
        let open = machine.cancelled(stream: 1)
        #expect(open == .sendCancel)
        let stillOpen = machine.awaitsServer
        #expect(stillOpen)
        _ = machine.endReceived(stream: 1)
        let ended = machine.cancelled(stream: 1)
        #expect(ended == .ignore)
    }

    @Test func `the silence of a server is two thirds of what it allows`() {
        var limits = Limits.defaults
        limits.idleTimeoutMilliseconds = 60_000
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var keepalive = KeepaliveStateMachine(limits: limits, now: start)
        let pingAt = start + .seconds(40)
        #expect(keepalive.timerFired(at: pingAt - .nanoseconds(1)) == .wait(until: pingAt))
        #expect(keepalive.timerFired(at: pingAt) == .ping(until: pingAt + .seconds(10)))
    }

    @Test func `the stream numbers run out after the last odd one`() {
        var streams = OpenConnection<ClientSide>(
            welcome: self.welcome(),
            granted: Self.granted,
            firstStream: UInt32.max - 2
        )
        #expect(streams.admission == .open(stream: UInt32.max - 2))
        streams.begin(UInt32.max - 2, payloadBytes: 1)
        #expect(streams.admission == .open(stream: UInt32.max))
        streams.begin(UInt32.max, payloadBytes: 1)
        #expect(streams.admission == .refuse)
    }
}
