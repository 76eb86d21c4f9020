import NIOCore
import WireProtocol

/// Decides what a connection does; knows streams, windows and counts, and nothing else.
///
///     awaitingHello --hello--> signingIn --signed in--> open --drain, goaway of the client--> draining
///           |                      |                      |                                      |
///           +---- violation, timeout, drain, refusal -----+--------------------------------------+--> closed
///
/// An event that the peer must not cause here answers `.close(reason)`; one that is a harmless race (a credit or a cancel for a
/// stream that has ended, anything after the end) answers `.ignore`; one that only a bug of ours can cause stops the process.
enum ConnectionStateMachine: ~Copyable {
    /// TLS is up or coming. Exits: `helloReceived`, any other frame, the handshake's timeout, a drain.
    case awaitingHello(ConnectionBounds)
    /// The credential is being looked up, or the answer to a challenge is awaited. Exits: `signedIn`, any frame but one proof that is
    /// awaited, the handshake's timeout, a drain.
    case signingIn(ConnectionBounds, peer: Windows, awaitsProof: Bool)
    /// Exits: a violation, `drainStarted`, `goawayReceived`.
    case open(OpenConnection)
    /// Open streams are answered, new ones refused. Exits: the end of the last stream, a violation.
    case draining(OpenConnection)
    case closed

    enum OnHello: Equatable {
        case signIn(version: UInt32)
        /// A service is to prove that it has its key.
        case challenge(version: UInt32)
        case close(CloseReason)
        case ignore
    }

    enum OnProof: Equatable {
        case signIn
        case close(CloseReason)
        case ignore
    }

    enum OnSignIn: Equatable {
        case welcome
        case ignore
    }

    enum OnRequest: Equatable {
        case dispatch
        case refuse(RefusalReason, credit: UInt32)
        case close(CloseReason)
        case ignore
    }

    enum RefusalReason: Equatable {
        case tooManyInFlight
        case draining
    }

    enum OnCancel: Equatable {
        case cancel
        case close(CloseReason)
        case ignore
    }

    enum OnCredit: Equatable {
        /// Streams that waited for credit may go on.
        case resume
        case close(CloseReason)
        case ignore
    }

    enum OnControlFrame: Equatable {
        case accept
        case close(CloseReason)
        case ignore
    }

    enum OnStreamEnd: Equatable {
        /// Grant this much to the peer; 0: nothing yet.
        case goOn(credit: UInt32)
        /// That was the last stream of a connection that drains.
        case close(CloseReason)
        case ignore
    }

    enum OnDrain: Equatable {
        case announce
        case announceAndClose
        case ignore
    }

    init(bounds: ConnectionBounds) {
        self = .awaitingHello(bounds)
    }
}

// MARK: - Handshake and end

extension ConnectionStateMachine {
    /// The client's first frame arrived: the first offered version that this server speaks is taken.
    mutating func helloReceived(
        versions: [UInt32],
        windows: Windows,
        isService: Bool = false
    ) -> OnHello {
        switch consume self {
        case .awaitingHello(let bounds):
            guard let version = versions.first(where: { $0 == ProtocolVersion.current }) else {
                self = .closed
                return .close(.versionUnsupported)
            }
            self = .signingIn(bounds, peer: windows, awaitsProof: isService)
            return isService ? .challenge(version: version) : .signIn(version: version)
        case .signingIn:
            self = .closed
            return .close(.secondHello)
        case .open:
            self = .closed
            return .close(.secondHello)
        case .draining:
            self = .closed
            return .close(.secondHello)
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The answer to a challenge arrived: there is one to each.
    mutating func proofReceived() -> OnProof {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return .close(.requestBeforeHello)
        case .signingIn(let bounds, let peer, let awaitsProof):
            guard awaitsProof else {
                self = .closed
                return .close(.frameKindUnexpected)
            }
            self = .signingIn(bounds, peer: peer, awaitsProof: false)
            return .signIn
        case .open:
            self = .closed
            return .close(.frameKindUnexpected)
        case .draining:
            self = .closed
            return .close(.frameKindUnexpected)
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The credential was found good, or there was none.
    ///
    /// - Parameter controlFrames: What all connections of the account may send.
    /// - Returns: Whether the welcome is to be sent.
    mutating func signedIn(controlFrames: ControlFramePace = ControlFramePace()) -> OnSignIn {
        switch consume self {
        case .signingIn(let bounds, let peer, _):
            self = .open(OpenConnection(bounds: bounds, peer: peer, controlFrames: controlFrames))
            return .welcome
        case .closed:
            self = .closed
            return .ignore
        case .awaitingHello:
            preconditionFailure("signed in before the hello")
        case .open:
            preconditionFailure("signed in twice")
        case .draining:
            preconditionFailure("signed in twice")
        }
    }

    /// The time for TLS and the handshake is over.
    ///
    /// `true`: close with `handshakeTimeout`.
    mutating func handshakeTimeoutPassed() -> Bool {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return true
        case .signingIn:
            self = .closed
            return true
        case .open(let open):
            self = .open(open)
            return false
        case .draining(let open):
            self = .draining(open)
            return false
        case .closed:
            self = .closed
            return false
        }
    }

    /// The server stops.
    mutating func drainStarted() -> OnDrain {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return .announceAndClose
        case .signingIn:
            self = .closed
            return .announceAndClose
        case .open(let open):
            guard !open.streams.isEmpty else {
                self = .closed
                return .announceAndClose
            }
            self = .draining(open)
            return .announce
        case .draining(let open):
            self = .draining(open)
            return .announce
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The client leaves: what is in flight is answered, then the connection closes.
    ///
    /// `true`: close now.
    mutating func goawayReceived(_ reason: CloseReason) -> Bool {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return true
        case .signingIn:
            self = .closed
            return true
        case .open(let open):
            guard reason == .drain, !open.streams.isEmpty else {
                self = .closed
                return true
            }
            self = .draining(open)
            return false
        case .draining(let open):
            guard reason == .drain else {
                self = .closed
                return true
            }
            self = .draining(open)
            return false
        case .closed:
            self = .closed
            return false
        }
    }

    /// The handler closes for a reason of its own.
    ///
    /// `false`: it was closed before.
    mutating func closed() -> Bool {
        switch consume self {
        case .closed:
            self = .closed
            return false
        case .awaitingHello:
            self = .closed
            return true
        case .signingIn:
            self = .closed
            return true
        case .open:
            self = .closed
            return true
        case .draining:
            self = .closed
            return true
        }
    }
}
