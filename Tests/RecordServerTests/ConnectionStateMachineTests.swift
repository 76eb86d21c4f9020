import RecordModel
import NIOCore
import RecordStore
import Testing
import Transport
import WireProtocol

@testable import RecordServer

/// Every event in every state, as transcripts.
///
/// `#expect` cannot take the machine, which is not copyable: what it answers is looked at, not what it is.
struct ConnectionStateMachineTests {
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    // MARK: - Handshake

    @Test func `a hello is looked up and welcomed`() {
        var machine = Self.fresh()
        let onHello = machine.helloReceived(versions: [1], windows: .defaults)
        #expect(onHello == .signIn(version: 1))
        let onSignIn = machine.signedIn()
        #expect(onSignIn == .welcome)
        let isOpen = machine.isOpen
        #expect(isOpen)
    }

    @Test(arguments: [[7, 1], [1, 7], [1]] as [[UInt32]])
    func `the first version that is spoken here is chosen`(versions: [UInt32]) {
        var machine = Self.fresh()
        let onHello = machine.helloReceived(versions: versions, windows: .defaults)
        #expect(onHello == .signIn(version: 1))
    }

    @Test(arguments: [[0], [2], [2, 3]] as [[UInt32]])
    func `no version in common closes`(versions: [UInt32]) {
        var machine = Self.fresh()
        let onHello = machine.helloReceived(versions: versions, windows: .defaults)
        #expect(onHello == .close(.versionUnsupported))
        self.expectClosed(&machine)
    }

    @Test(arguments: [State.signingIn, .open, .draining])
    func `a second hello closes`(state: State) {
        var machine = self.machine(state)
        let onHello = machine.helloReceived(versions: [1], windows: .defaults)
        #expect(onHello == .close(.secondHello))
        self.expectClosed(&machine)
    }

    @Test(arguments: [State.awaitingHello, .signingIn])
    func `a request before the welcome closes`(state: State) {
        var machine = self.machine(state)
        let onRequest = machine.requestReceived(1, payloadBytes: 10)
        #expect(onRequest == .close(.requestBeforeHello))
        self.expectClosed(&machine)
    }

    @Test(arguments: [State.awaitingHello, .signingIn])
    func `a cancel, a credit, a ping or an acknowledgement before the welcome closes`(state: State) {
        var cancelled = self.machine(state)
        let onCancel = cancelled.cancelReceived(1, now: self.now)
        #expect(onCancel == .close(.requestBeforeHello))
        var credited = self.machine(state)
        let onCredit = credited.creditReceived(0, bytes: 1, now: self.now)
        #expect(onCredit == .close(.requestBeforeHello))
        var pinged = self.machine(state)
        let onPing = pinged.controlFrameReceived(now: self.now)
        #expect(onPing == .close(.requestBeforeHello))
        var acknowledged = self.machine(state)
        var listener = ListenerStateMachine()
        let onAcknowledgement = acknowledged.acknowledgementReceived(1, by: &listener, now: self.now)
        #expect(onAcknowledgement == .close(.requestBeforeHello))
    }

    @Test func `the handshake's timeout closes those who have not finished it`() {
        for state in [State.awaitingHello, .signingIn] {
            var machine = self.machine(state)
            let closes = machine.handshakeTimeoutPassed()
            #expect(closes)
            self.expectClosed(&machine)
        }
        for state in [State.open, .draining, .closed] {
            var machine = self.machine(state)
            let closes = machine.handshakeTimeoutPassed()
            #expect(!closes)
        }
    }

    @Test func `a sign-in that comes after the end is ignored`() {
        var machine = self.machine(.signingIn)
        _ = machine.connectionEnded()
        let onSignIn = machine.signedIn()
        #expect(onSignIn == .ignore)
    }

    // MARK: - Streams

    @Test(arguments: [UInt32(0), 2, 4])
    func `an even stream number closes`(stream: UInt32) {
        var machine = self.machine(.open)
        let onRequest = machine.requestReceived(stream, payloadBytes: 1)
        #expect(onRequest == .close(.streamInvalid))
        self.expectClosed(&machine)
    }

    @Test(arguments: [UInt32(5), 3, 1])
    func `a stream number that does not ascend closes`(stream: UInt32) {
        var machine = Self.open()
        let first = machine.requestReceived(5, payloadBytes: 1)
        #expect(first == .dispatch)
        let second = machine.requestReceived(stream, payloadBytes: 1)
        #expect(second == .close(.streamInvalid))
    }

    @Test func `a number is not free again when its stream has ended`() {
        var machine = Self.open()
        _ = machine.requestReceived(1, payloadBytes: 1)
        _ = machine.streamEnded(1)
        let again = machine.requestReceived(1, payloadBytes: 1)
        #expect(again == .close(.streamInvalid))
    }

    @Test func `requests in excess are refused, and twice as many close`() {
        var machine = Self.open(inFlightMax: 2)
        let answers = (0..<5).map { machine.requestReceived(UInt32(2 * $0 + 1), payloadBytes: 1) }
        #expect(
            answers == [
                .dispatch, .dispatch, .refuse(.tooManyInFlight, credit: 0),
                .refuse(.tooManyInFlight, credit: 0), .close(.tooManyInFlight),
            ]
        )
    }

    @Test func `an end makes room for a request`() {
        var machine = Self.open(inFlightMax: 1)
        _ = machine.requestReceived(1, payloadBytes: 1)
        let refused = machine.requestReceived(3, payloadBytes: 1)
        #expect(refused == .refuse(.tooManyInFlight, credit: 0))
        let end = machine.streamEnded(1)
        #expect(end == .goOn(credit: 0))
        let taken = machine.requestReceived(5, payloadBytes: 1)
        #expect(taken == .dispatch)
        let again = machine.requestReceived(7, payloadBytes: 1)
        #expect(again == .refuse(.tooManyInFlight, credit: 0))
    }

    @Test func `a cancel is acted on once`() {
        var machine = Self.open()
        _ = machine.requestReceived(1, payloadBytes: 1)
        let first = machine.cancelReceived(1, now: self.now)
        #expect(first == .cancel)
        let second = machine.cancelReceived(1, now: self.now)
        #expect(second == .ignore)
    }

    @Test func `a cancel or a credit for a stream that has ended is ignored`() {
        var machine = Self.open()
        _ = machine.requestReceived(1, payloadBytes: 1)
        _ = machine.streamEnded(1)
        let onCancel = machine.cancelReceived(1, now: self.now)
        #expect(onCancel == .ignore)
        let onCredit = machine.creditReceived(1, bytes: 1, now: self.now)
        #expect(onCredit == .ignore)
    }

    @Test(arguments: [UInt32(2), 3])
    func `a cancel or a credit for a stream that was never opened closes`(stream: UInt32) {
        var machine = Self.open()
        _ = machine.requestReceived(1, payloadBytes: 1)
        let onCancel = machine.cancelReceived(stream, now: self.now)
        #expect(onCancel == .close(.streamInvalid))
        var other = Self.open()
        _ = other.requestReceived(1, payloadBytes: 1)
        let onCredit = other.creditReceived(stream, bytes: 1, now: self.now)
        #expect(onCredit == .close(.streamInvalid))
    }

    // MARK: - Windows

    @Test func `items wait for the window of their stream and of the connection`() {
        var machine = Self.open(windows: Windows(connectionBytes: 100, streamBytes: 60))
        _ = machine.requestReceived(1, payloadBytes: 1)
        _ = machine.requestReceived(3, payloadBytes: 1)
        machine.itemsSent(60, on: 1)
        #expect(machine.mayNotSend(1) == true)
        #expect(machine.mayNotSend(3) == false)
        machine.itemsSent(40, on: 3)
        #expect(machine.mayNotSend(3) == true)
        let onStream = machine.creditReceived(1, bytes: 1, now: self.now)
        #expect(onStream == .resume)
        #expect(machine.mayNotSend(1) == true)
        let onConnection = machine.creditReceived(0, bytes: 1, now: self.now)
        #expect(onConnection == .resume)
        #expect(machine.mayNotSend(1) == false)
        #expect(machine.mayNotSend(3) == false)
    }

    @Test(arguments: [UInt32(0), 1])
    func `a credit of 0 and one beyond the bound close`(stream: UInt32) {
        for bytes in [0, UInt32(SendWindow.bytesMax)] {
            var machine = Self.open()
            _ = machine.requestReceived(1, payloadBytes: 1)
            let onCredit = machine.creditReceived(stream, bytes: bytes, now: self.now)
            #expect(onCredit == .close(.creditInvalid))
            self.expectClosed(&machine)
        }
    }

    @Test func `a request without credit closes`() {
        var machine = Self.open(receiveWindowBytes: 10)
        let first = machine.requestReceived(1, payloadBytes: 9)
        #expect(first == .dispatch)
        let second = machine.requestReceived(3, payloadBytes: 100)
        #expect(second == .dispatch)
        let third = machine.requestReceived(5, payloadBytes: 1)
        #expect(third == .close(.creditExceeded))
    }

    @Test func `the bytes of a request are granted again when it is answered or refused`() {
        var machine = Self.open(inFlightMax: 1, receiveWindowBytes: 10)
        _ = machine.requestReceived(1, payloadBytes: 4)
        let refused = machine.requestReceived(3, payloadBytes: 5)
        #expect(refused == .refuse(.tooManyInFlight, credit: 5))
        let end = machine.streamEnded(1)
        #expect(end == .goOn(credit: 0))
    }

    @Test(arguments: [State.open, .draining])
    func `an acknowledgement of nothing new is a control frame, and one that closes ends the machine`(
        state: State
    ) {
        var machine = self.machine(state)
        var listener = ListenerStateMachine()
        _ = listener.listenRequested(on: 1)
        _ = listener.began()
        let news = Sample.subject(1).news(upTo: 7, isCoalesced: false)
        _ = listener.notificationArrived(news, isWritable: true)
        let first = machine.acknowledgementReceived(1, by: &listener, now: self.now)
        #expect(first == .acknowledge([Acknowledgement(subscription: news.subject.key, position: 7)]))
        for _ in 0..<ControlFrameBudget.framesPerSecondMax {
            let again = machine.acknowledgementReceived(1, by: &listener, now: self.now)
            #expect(again == .ignore)
        }
        let last = machine.acknowledgementReceived(1, by: &listener, now: self.now)
        #expect(last == .close(.tooManyControlFrames))
        self.expectClosed(&machine)
    }

    @Test func `too many control frames close`() {
        var machine = Self.open()
        for _ in 0..<ControlFrameBudget.framesPerSecondMax {
            let onPing = machine.controlFrameReceived(now: self.now)
            #expect(onPing == .accept)
        }
        let onPing = machine.controlFrameReceived(now: self.now)
        #expect(onPing == .close(.tooManyControlFrames))
    }

    @Test(arguments: [UInt32(0), 1])
    func `a credit that gives back half a window is no control frame, any other is`(stream: UInt32) {
        var machine = Self.open(windows: Windows(connectionBytes: 100, streamBytes: 100))
        _ = machine.requestReceived(1, payloadBytes: 1)
        let framesMax = ControlFrameBudget.framesPerSecondMax
        for _ in 0..<2 * framesMax {
            machine.itemsSent(50, on: 1)
            let onConnection = machine.creditReceived(0, bytes: 50, now: self.now)
            let onStream = machine.creditReceived(1, bytes: 50, now: self.now)
            #expect(onConnection == .resume && onStream == .resume)
        }
        machine.itemsSent(49, on: 1)
        // Less than half of the window; then more than was sent.
        for number in 0..<framesMax {
            let counted = machine.creditReceived(stream, bytes: number < 49 ? 1 : 50, now: self.now)
            #expect(counted == .resume)
        }
        let last = machine.creditReceived(stream, bytes: 50, now: self.now)
        #expect(last == .close(.tooManyControlFrames))
        self.expectClosed(&machine)
    }

    @Test
    func
        `a credit that makes a window larger counts once, and those that give back what it takes then do not`()
    {
        var machine = Self.open(windows: Windows(connectionBytes: 100, streamBytes: 100))
        _ = machine.requestReceived(1, payloadBytes: 1)
        let framesMax = ControlFrameBudget.framesPerSecondMax
        machine.itemsSent(100, on: 1)
        let grown = machine.creditReceived(1, bytes: 800, now: self.now)
        #expect(grown == .resume)
        for _ in 0..<2 * framesMax {
            machine.assetDataSent(60, on: 1)
            let onStream = machine.creditReceived(1, bytes: 60, now: self.now)
            #expect(onStream == .resume)
        }
        for _ in 1..<framesMax {
            let counted = machine.creditReceived(1, bytes: 60, now: self.now)
            #expect(counted == .resume)
        }
        let last = machine.creditReceived(1, bytes: 60, now: self.now)
        #expect(last == .close(.tooManyControlFrames))
        self.expectClosed(&machine)
    }

    // MARK: - Drain and end

    @Test func `a drain answers what is open and refuses what is new`() {
        var machine = Self.open()
        _ = machine.requestReceived(1, payloadBytes: 1)
        _ = machine.requestReceived(3, payloadBytes: 1)
        let onDrain = machine.drainStarted()
        #expect(onDrain == .announce)
        let onRequest = machine.requestReceived(5, payloadBytes: 1)
        #expect(onRequest == .refuse(.draining, credit: 0))
        let first = machine.streamEnded(1)
        #expect(first == .goOn(credit: 0))
        let last = machine.streamEnded(3)
        #expect(last == .close(.drain))
        self.expectClosed(&machine)
    }

    @Test(arguments: [State.awaitingHello, .signingIn, .open])
    func `a drain closes a connection without streams`(state: State) {
        var machine = self.machine(state)
        let onDrain = machine.drainStarted()
        #expect(onDrain == .announceAndClose)
        self.expectClosed(&machine)
    }

    @Test func `a client that leaves is answered first`() {
        var machine = Self.open()
        _ = machine.requestReceived(1, payloadBytes: 1)
        let onGoAway = machine.goAwayReceived(.drain)
        #expect(onGoAway == .drain)
        let last = machine.streamEnded(1)
        #expect(last == .close(.drain))
    }

    @Test func `a client that leaves in anger is not`() {
        var machine = Self.open()
        _ = machine.requestReceived(1, payloadBytes: 1)
        let onGoAway = machine.goAwayReceived(.internalError)
        #expect(onGoAway == .close)
        self.expectClosed(&machine)
    }

    @Test(arguments: [State.awaitingHello, .signingIn, .open, .draining])
    func `the handler closes once`(state: State) {
        var machine = self.machine(state)
        let first = machine.connectionEnded()
        #expect(first)
        let second = machine.connectionEnded()
        #expect(!second)
        self.expectClosed(&machine)
    }

    // MARK: - Machines in each state

    enum State: CaseIterable {
        case awaitingHello
        case signingIn
        case open
        case draining
        case closed
    }

    private static func fresh(
        inFlightMax: Int = 8,
        receiveWindowBytes: UInt32 = 65_536
    ) -> ConnectionStateMachine {
        ConnectionStateMachine(
            bounds: ConnectionBounds(inFlightMax: inFlightMax, receiveWindowBytes: receiveWindowBytes)
        )
    }

    private static func open(
        inFlightMax: Int = 8,
        receiveWindowBytes: UInt32 = 65_536,
        windows: Windows = .defaults
    ) -> ConnectionStateMachine {
        var machine = Self.fresh(inFlightMax: inFlightMax, receiveWindowBytes: receiveWindowBytes)
        _ = machine.helloReceived(versions: [1], windows: windows)
        _ = machine.signedIn()
        return machine
    }

    private func machine(_ state: State) -> ConnectionStateMachine {
        switch state {
        case .awaitingHello:
            return Self.fresh()
        case .signingIn:
            var machine = Self.fresh()
            _ = machine.helloReceived(versions: [1], windows: .defaults)
            return machine
        case .open:
            return Self.open()
        case .draining:
            var machine = Self.open()
            _ = machine.requestReceived(1, payloadBytes: 1)
            _ = machine.drainStarted()
            return machine
        case .closed:
            var machine = Self.fresh()
            _ = machine.connectionEnded()
            return machine
        }
    }

    /// After the end every event is a harmless race.
    private func expectClosed(_ machine: inout ConnectionStateMachine) {
        let onHello = machine.helloReceived(versions: [1], windows: .defaults)
        #expect(onHello == .ignore)
        let onSignIn = machine.signedIn()
        #expect(onSignIn == .ignore)
        let onRequest = machine.requestReceived(101, payloadBytes: 1)
        #expect(onRequest == .ignore)
        let onCancel = machine.cancelReceived(101, now: self.now)
        #expect(onCancel == .ignore)
        let onCredit = machine.creditReceived(0, bytes: 0, now: self.now)
        #expect(onCredit == .ignore)
        let onPing = machine.controlFrameReceived(now: self.now)
        #expect(onPing == .ignore)
        var listener = ListenerStateMachine()
        let onAcknowledgement = machine.acknowledgementReceived(1, by: &listener, now: self.now)
        #expect(onAcknowledgement == .ignore)
        let onEnd = machine.streamEnded(101)
        #expect(onEnd == .ignore)
        let onDrain = machine.drainStarted()
        #expect(onDrain == .ignore)
        let onGoAway = machine.goAwayReceived(.drain)
        #expect(onGoAway == .ignore)
        let timesOut = machine.handshakeTimeoutPassed()
        #expect(!timesOut)
        let maySend = machine.maySendItems(on: 1)
        #expect(!maySend)
    }
}

extension ConnectionStateMachine {
    /// The macro cannot lend what is not copyable.
    fileprivate mutating func mayNotSend(_ stream: UInt32) -> Bool {
        !self.maySendItems(on: stream)
    }
}
