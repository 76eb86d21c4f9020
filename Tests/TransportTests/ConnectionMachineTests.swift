import Testing
import Transport
import WireProtocol

/// Every event of both sides in every state, on a machine whose side has next to no rules.
struct ConnectionMachineTests {
    enum State: CaseIterable {
        case handshake
        case open
        case withStream
        case draining
        case closed
    }

    @Test(arguments: [
        (State.handshake, OnFrame.close(.requestBeforeHello)), (.open, .accept), (.withStream, .accept),
        (.draining, .accept), (.closed, .ignore),
    ])
    func `a frame is taken while the connection is open`(state: State, expected: OnFrame) {
        var machine = Self.machine(state)
        let action = machine.frameReceived { _ throws(CloseReason) in OnFrame.accept }
        #expect(action == expected)
        let isOpen = machine.isOpen
        #expect(isOpen == (expected == .accept))
    }

    @Test(arguments: [State.open, .withStream, .draining])
    func `a frame that the rule does not permit closes`(state: State) {
        var machine = Self.machine(state)
        let action: OnFrame = machine.frameReceived { _ throws(CloseReason) in throw .streamInvalid }
        #expect(action == .close(.streamInvalid))
        let isOpen = machine.isOpen
        #expect(!isOpen)
    }

    @Test(arguments: [
        (State.handshake, OnFrame.accept), (.open, .close(.secondHello)),
        (.withStream, .close(.secondHello)), (.draining, .close(.secondHello)), (.closed, .ignore),
    ])
    func `a frame of the handshake has its place there alone`(state: State, expected: OnFrame) {
        var machine = Self.machine(state)
        let action = machine.handshakeFrameReceived(late: .secondHello) { _ throws(CloseReason) in
            OnFrame.accept
        }
        #expect(action == expected)
    }

    @Test(arguments: [
        (State.handshake, OnGoAway.close), (.open, .close), (.withStream, .drain), (.draining, .ignore),
        (.closed, .ignore),
    ])
    func `a peer that leaves in order is let go with its last stream`(state: State, expected: OnGoAway) {
        var machine = Self.machine(state)
        let action = machine.goAwayReceived(.drain)
        #expect(action == expected)
        let isDraining = machine.isDraining
        #expect(isDraining == (state == .withStream || state == .draining))
    }

    @Test(arguments: State.allCases)
    func `a peer that leaves for another reason is let go at once`(state: State) {
        var machine = Self.machine(state)
        let action = machine.goAwayReceived(.internalError)
        #expect(action == (state == .closed ? .ignore : .close))
        let isOpen = machine.isOpen
        #expect(!isOpen)
    }

    @Test(arguments: [
        (State.handshake, OnDrain.announceAndClose), (.open, .announceAndClose), (.withStream, .announce),
        (.draining, .announce), (.closed, .ignore),
    ])
    func `a drain waits for streams`(state: State, expected: OnDrain) {
        var machine = Self.machine(state)
        let action = machine.drainStarted()
        #expect(action == expected)
    }

    @Test func `a connection that drains closes with its last stream, whichever side ends it`() {
        var ours = Self.machine(.draining)
        let isLast = ours.act(orElse: false) { open in
            open.streams[1] = nil
            return open.isDrained
        }
        let isOursOpen = ours.isOpen
        #expect(isLast && !isOursOpen)
        var peers = Self.machine(.draining)
        _ = peers.frameReceived { open throws(CloseReason) in
            open.streams[1] = nil
            return OnFrame.accept
        }
        let isPeersOpen = peers.isOpen
        #expect(!isPeersOpen)
    }

    @Test(arguments: State.allCases)
    func `the end comes once`(state: State) {
        var machine = Self.machine(state)
        let first = machine.connectionEnded()
        #expect(first == (state != .closed))
        let second = machine.connectionEnded()
        #expect(!second)
        let nothing = machine.act(orElse: true) { _ in false }
        #expect(nothing)
    }

    private static func machine(_ state: State) -> ConnectionMachine<TestSide> {
        if state == .handshake { return .handshake(()) }
        var machine = ConnectionMachine<TestSide>.open(
            OpenConnection(
                side: TestSide(),
                sending: SendWindow(bytes: 1),
                receiving: ReceiveWindow(bytes: 1)
            )
        )
        if state == .withStream || state == .draining { machine.act(orElse: ()) { $0.streams[1] = 1 } }
        if state == .draining { _ = machine.drainStarted() }
        if state == .closed { _ = machine.connectionEnded() }
        return machine
    }
}

enum OnFrame: Equatable, FrameAction {
    case accept
    case close(CloseReason)
    case ignore
}

struct TestSide: ConnectionSide {
    typealias Handshake = Void
    typealias Stream = Int

    static var frameBeforeWelcome: CloseReason { .requestBeforeHello }
}
