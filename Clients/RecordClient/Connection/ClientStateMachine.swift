import WireProtocol

/// What either side may do on one connection.
///
///     connecting ─connected─▶ awaitingWelcome ─welcome─▶ open ─goaway(drain)─▶ draining
///         │                          │                    │                       │ last end
///         └──────────────────────────┴─▶ closed ◀─────────┴───────────────────────┘
///
/// Our bugs trap: a request sent without having been admitted. The server's bugs close: frames out of place, streams
/// that are not open, credit exceeded. Harmless races are ignored: a cancel or credit for a stream that has ended, and
/// whatever arrives after the end.
enum ClientStateMachine: ~Copyable {
    /// Exits: `connected`, `connectionEnded`.
    case connecting(ClientHandshake)
    /// Exits: `welcomeReceived`, `goAwayReceived`, a violation, `connectionEnded`.
    case awaitingWelcome(ClientHandshake)
    /// Exits: `goAwayReceived`, a violation, `connectionEnded`.
    case open(OpenStreams)
    /// Exits: the last `endReceived`, `goAwayReceived`, a violation, `connectionEnded`.
    case draining(OpenStreams)
    case closed

    enum Admission: Equatable {
        /// Send the request on this stream, and say so with `requestSent`.
        case open(stream: UInt32)
        /// No credit, or as many in flight as allowed.
        case wait
        /// This connection takes no more requests.
        case refuse
    }

    enum OnConnected: Equatable {
        case sendHello
        case ignore
    }

    enum OnChallenge: Equatable {
        case prove
        case violation(Violation)
        case ignore
    }

    enum OnWelcome: Equatable {
        case announce
        case violation(Violation)
        case ignore
    }

    enum OnGoAway: Equatable {
        case drain
        /// Orderly, and no stream is open.
        case closeDrained
        case close
        case ignore
    }

    enum OnItems: Equatable {
        case deliver
        case violation(Violation)
        case ignore
    }

    enum OnEnd: Equatable {
        case finish
        /// The stream was the last of a connection that drains.
        case finishAndClose
        case violation(Violation)
        case ignore
    }

    enum OnCredit: Equatable {
        case resume
        case violation(Violation)
        case ignore
    }

    enum OnCancel: Equatable {
        case sendCancel
        case ignore
    }

    init(windows: Windows, expectsChallenge: Bool = false) {
        self = .connecting(ClientHandshake(windows: windows, expectsChallenge: expectsChallenge))
    }

    /// TLS is up and has agreed on the protocol.
    mutating func connected() -> OnConnected {
        switch consume self {
        case .connecting(let handshake):
            self = .awaitingWelcome(handshake)
            return .sendHello
        case .awaitingWelcome(let handshake):
            self = .awaitingWelcome(handshake)
            return .ignore
        case .open(let streams):
            self = .open(streams)
            return .ignore
        case .draining(let streams):
            self = .draining(streams)
            return .ignore
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The server wants to see that this side has its key: once, and only of a service.
    mutating func challengeReceived() -> OnChallenge {
        switch consume self {
        case .connecting:
            self = .closed
            return .violation(.frameUnexpected)
        case .awaitingWelcome(var handshake):
            guard handshake.expectsChallenge else {
                self = .closed
                return .violation(.frameUnexpected)
            }
            handshake.expectsChallenge = false
            self = .awaitingWelcome(handshake)
            return .prove
        case .open:
            self = .closed
            return .violation(.frameUnexpected)
        case .draining:
            self = .closed
            return .violation(.frameUnexpected)
        case .closed:
            self = .closed
            return .ignore
        }
    }

    mutating func welcomeReceived(_ welcome: Welcome) -> OnWelcome {
        switch consume self {
        case .connecting:
            self = .closed
            return .violation(.frameUnexpected)
        case .awaitingWelcome(let handshake):
            guard !handshake.expectsChallenge else {
                self = .closed
                return .violation(.frameUnexpected)
            }
            self = .open(OpenStreams(welcome: welcome, granted: handshake.windows))
            return .announce
        case .open:
            self = .closed
            return .violation(.frameUnexpected)
        case .draining:
            self = .closed
            return .violation(.frameUnexpected)
        case .closed:
            self = .closed
            return .ignore
        }
    }

    mutating func goAwayReceived(_ reason: CloseReason) -> OnGoAway {
        switch consume self {
        case .connecting:
            self = .closed
            return .close
        case .awaitingWelcome:
            self = .closed
            return reason == .drain ? .closeDrained : .close
        case .open(let streams):
            guard reason == .drain else {
                self = .closed
                return .close
            }
            guard !streams.isEmpty else {
                self = .closed
                return .closeDrained
            }
            self = .draining(streams)
            return .drain
        case .draining(let streams):
            guard reason == .drain else {
                self = .closed
                return .close
            }
            self = .draining(streams)
            return .ignore
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// Whether somebody waits for the server: a stream is open, or notifications are to come.
    var awaitsServer: Bool {
        switch self {
        case .connecting: false
        case .awaitingWelcome: false
        case .open(let streams): !streams.isEmpty || streams.notifications.isListening
        case .draining(let streams): !streams.isEmpty
        case .closed: false
        }
    }

    var isDraining: Bool {
        switch self {
        case .connecting: false
        case .awaitingWelcome: false
        case .open: false
        case .draining: true
        case .closed: false
        }
    }

    /// A request waits to be sent.
    borrowing func requestReady() -> Admission {
        switch self {
        case .connecting: .wait
        case .awaitingWelcome: .wait
        case .open(let streams): streams.admission
        case .draining: .refuse
        case .closed: .refuse
        }
    }

    /// The admitted request was written; with what its stream carries besides items.
    mutating func requestSent(stream: UInt32, payloadBytes: Int, transfer: TransferStream? = nil) {
        guard case .open(var streams) = consume self else {
            preconditionFailure("a request was sent without having been admitted")
        }
        streams.open(stream, payloadBytes: payloadBytes, transfer: transfer)
        self = .open(streams)
    }

    mutating func itemsReceived(stream: UInt32, payloadBytes: Int) -> OnItems {
        switch consume self {
        case .connecting:
            self = .closed
            return .violation(.frameUnexpected)
        case .awaitingWelcome:
            self = .closed
            return .violation(.frameUnexpected)
        case .open(var streams):
            if let violation = streams.receive(payloadBytes, on: stream) {
                self = .closed
                return .violation(violation)
            }
            self = .open(streams)
            return .deliver
        case .draining(var streams):
            if let violation = streams.receive(payloadBytes, on: stream) {
                self = .closed
                return .violation(violation)
            }
            self = .draining(streams)
            return .deliver
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The items of a frame were handed over.
    ///
    /// - Returns: What to grant.
    mutating func itemsConsumed(stream: UInt32, payloadBytes: Int) -> OpenStreams.Grants {
        switch consume self {
        case .connecting(let handshake):
            self = .connecting(handshake)
            return .nothing
        case .awaitingWelcome(let handshake):
            self = .awaitingWelcome(handshake)
            return .nothing
        case .open(var streams):
            let grants = streams.consume(payloadBytes, on: stream)
            self = .open(streams)
            return grants
        case .draining(var streams):
            let grants = streams.consume(payloadBytes, on: stream)
            self = .draining(streams)
            return grants
        case .closed:
            self = .closed
            return .nothing
        }
    }

    mutating func endReceived(stream: UInt32, isFailure: Bool = false) -> OnEnd {
        switch consume self {
        case .connecting:
            self = .closed
            return .violation(.frameUnexpected)
        case .awaitingWelcome:
            self = .closed
            return .violation(.frameUnexpected)
        case .open(var streams):
            if let violation = streams.close(stream, isFailure: isFailure) {
                self = .closed
                return .violation(violation)
            }
            self = .open(streams)
            return .finish
        case .draining(var streams):
            if let violation = streams.close(stream, isFailure: isFailure) {
                self = .closed
                return .violation(violation)
            }
            guard !streams.isEmpty else {
                self = .closed
                return .finishAndClose
            }
            self = .draining(streams)
            return .finish
        case .closed:
            self = .closed
            return .ignore
        }
    }

    mutating func creditReceived(stream: UInt32, bytes: UInt32) -> OnCredit {
        switch consume self {
        case .connecting:
            self = .closed
            return .violation(.frameUnexpected)
        case .awaitingWelcome:
            self = .closed
            return .violation(.frameUnexpected)
        case .open(var streams):
            guard streams.grant(bytes, on: stream) else {
                self = .closed
                return .violation(.creditInvalid)
            }
            self = .open(streams)
            return .resume
        case .draining(var streams):
            guard streams.grant(bytes, on: stream) else {
                self = .closed
                return .violation(.creditInvalid)
            }
            self = .draining(streams)
            return .resume
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The caller does not want the answer any more.
    ///
    /// The stream stays open until the server ends it.
    borrowing func cancelled(stream: UInt32) -> OnCancel {
        switch self {
        case .connecting: .ignore
        case .awaitingWelcome: .ignore
        case .open(let streams): streams.contains(stream) ? .sendCancel : .ignore
        case .draining(let streams): streams.contains(stream) ? .sendCancel : .ignore
        case .closed: .ignore
        }
    }

    /// The connection is closed, or about to be by this side.
    ///
    /// - Returns: Whether it was open until now.
    mutating func connectionEnded() -> Bool {
        switch consume self {
        case .connecting:
            self = .closed
            return true
        case .awaitingWelcome:
            self = .closed
            return true
        case .open:
            self = .closed
            return true
        case .draining:
            self = .closed
            return true
        case .closed:
            self = .closed
            return false
        }
    }
}

/// What is to come before the welcome.
struct ClientHandshake {
    /// What this side has granted.
    let windows: Windows
    var expectsChallenge: Bool
}
