import NIOCore
import WireProtocol

// Events of a connection after its handshake. A frame that comes before it closes the connection.
extension ConnectionStateMachine {
    /// A request frame arrived.
    mutating func requestReceived(_ stream: UInt32, payloadBytes: Int) -> OnRequest {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return .close(.requestBeforeHello)
        case .signingIn:
            self = .closed
            return .close(.requestBeforeHello)
        case .open(var open):
            let action = open.request(stream, payloadBytes: payloadBytes, isDraining: false)
            if case .close = action {
                self = .closed
            } else {
                self = .open(open)
            }
            return action
        case .draining(var open):
            let action = open.request(stream, payloadBytes: payloadBytes, isDraining: true)
            if case .close = action {
                self = .closed
            } else {
                self = .draining(open)
            }
            return action
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// A cancel frame arrived.
    mutating func cancelReceived(_ stream: UInt32, now: NIODeadline) -> OnCancel {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return .close(.requestBeforeHello)
        case .signingIn:
            self = .closed
            return .close(.requestBeforeHello)
        case .open(var open):
            let action = open.cancel(stream, now: now)
            if case .close = action {
                self = .closed
            } else {
                self = .open(open)
            }
            return action
        case .draining(var open):
            let action = open.cancel(stream, now: now)
            if case .close = action {
                self = .closed
            } else {
                self = .draining(open)
            }
            return action
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// A credit frame arrived.
    mutating func creditReceived(_ stream: UInt32, bytes: UInt32, now: NIODeadline) -> OnCredit {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return .close(.requestBeforeHello)
        case .signingIn:
            self = .closed
            return .close(.requestBeforeHello)
        case .open(var open):
            let action = open.credit(stream, bytes: bytes, now: now)
            if case .close = action {
                self = .closed
            } else {
                self = .open(open)
            }
            return action
        case .draining(var open):
            let action = open.credit(stream, bytes: bytes, now: now)
            if case .close = action {
                self = .closed
            } else {
                self = .draining(open)
            }
            return action
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// A frame arrived that costs the peer nothing and belongs to no stream: a ping, a pong that nobody asked for, one of a kind that is ignored.
    mutating func controlFrameReceived(now: NIODeadline) -> OnControlFrame {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return .close(.requestBeforeHello)
        case .signingIn:
            self = .closed
            return .close(.requestBeforeHello)
        case .open(var open):
            let action = open.controlFrame(now: now)
            if case .close = action {
                self = .closed
            } else {
                self = .open(open)
            }
            return action
        case .draining(var open):
            let action = open.controlFrame(now: now)
            if case .close = action {
                self = .closed
            } else {
                self = .draining(open)
            }
            return action
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// A notification_ack frame arrived.
    mutating func acknowledgementReceived(
        _ number: UInt64,
        by listener: inout ListenerStateMachine,
        now: NIODeadline
    ) -> ListenerStateMachine.OnAcknowledgement {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return .close(.requestBeforeHello)
        case .signingIn:
            self = .closed
            return .close(.requestBeforeHello)
        case .open(var open):
            let action = open.acknowledgement(number, by: &listener, now: now)
            if case .close = action {
                self = .closed
            } else {
                self = .open(open)
            }
            return action
        case .draining(var open):
            let action = open.acknowledgement(number, by: &listener, now: now)
            if case .close = action {
                self = .closed
            } else {
                self = .draining(open)
            }
            return action
        case .closed:
            self = .closed
            return .nothingNew
        }
    }

    /// Whether both windows that items of this stream count against are open.
    borrowing func maySendItems(on stream: UInt32) -> Bool {
        switch self {
        case .awaitingHello: false
        case .signingIn: false
        case .open(let open): open.maySendItems(on: stream)
        case .draining(let open): open.maySendItems(on: stream)
        case .closed: false
        }
    }

    /// Whether the handshake is over and the end has not come.
    var isOpen: Bool {
        switch self {
        case .awaitingHello: false
        case .signingIn: false
        case .open: true
        case .draining: true
        case .closed: false
        }
    }

    /// A frame of items went out.
    mutating func itemsSent(_ payloadBytes: Int, on stream: UInt32) {
        switch consume self {
        case .open(var open):
            open.itemsSent(payloadBytes, on: stream)
            self = .open(open)
        case .draining(var open):
            open.itemsSent(payloadBytes, on: stream)
            self = .draining(open)
        case .closed:
            self = .closed
        case .awaitingHello:
            preconditionFailure("items before the hello")
        case .signingIn:
            preconditionFailure("items before the welcome")
        }
    }

    /// The end frame of a stream goes out now.
    mutating func streamEnded(_ stream: UInt32) -> OnStreamEnd {
        switch consume self {
        case .open(var open):
            let credit = open.end(stream)
            self = .open(open)
            return .goOn(credit: credit)
        case .draining(var open):
            let credit = open.end(stream)
            guard !open.streams.isEmpty else {
                self = .closed
                return .close(.drain)
            }
            self = .draining(open)
            return .goOn(credit: credit)
        case .closed:
            self = .closed
            return .ignore
        case .awaitingHello:
            preconditionFailure("a stream ended before the hello")
        case .signingIn:
            preconditionFailure("a stream ended before the welcome")
        }
    }
}
