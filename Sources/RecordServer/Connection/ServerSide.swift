import NIOCore
import Transport
import WireProtocol

/// The limits of a server that the machine needs.
struct ConnectionBounds: Hashable, Sendable {
    /// Maximum number of requests without a response; twice this number closes the connection.
    var inFlightMax: Int
    /// The bytes of requests that the server accepts before it grants more.
    var receiveWindowBytes: UInt32
}

/// The server's side of a connection: its state, and its actions for each event.
struct ServerSide: ConnectionSide {
    /// The steps before the welcome.
    enum Handshake {
        /// TLS is up or being negotiated.
        case awaitingHello(ConnectionBounds)
        /// A service must prove that it holds its key.
        case awaitingProof(ConnectionBounds, peer: Windows)
        /// The credential is being looked up.
        case signingIn(ConnectionBounds, peer: Windows)
    }

    struct Stream: Hashable, Sendable {
        var requestBytes: Int
        var window: SendWindow
        var isCancelled = false
    }

    static var frameBeforeWelcome: CloseReason { .requestBeforeHello }

    let bounds: ConnectionBounds
    let streamWindowBytes: UInt32
    var lastStream: UInt32 = 0
    /// Requests refused since a stream last ended: the client could not know of that when it sent
    /// them.
    var refusedInRow = 0
    var controlFrames: ControlFrameBudget
    var assetWindows = AssetWindows()

    init(bounds: ConnectionBounds, peer: Windows, controlFrames: ControlFramePace) {
        self.bounds = bounds
        self.streamWindowBytes = peer.streamBytes
        self.controlFrames = ControlFrameBudget(pace: controlFrames)
    }

    /// Whether the client has opened this stream; it may have ended.
    func wasOpened(_ stream: UInt32) -> Bool {
        !stream.isMultiple(of: 2) && stream <= self.lastStream
    }
}

// MARK: - Actions

extension ServerSide {
    enum OnHello: Equatable, FrameAction {
        case signIn(version: UInt32)
        case challenge(version: UInt32)
        case close(CloseReason)
        case ignore
    }

    enum OnProof: Equatable, FrameAction {
        case signIn
        case close(CloseReason)
        case ignore
    }

    enum OnSignIn: Equatable {
        case welcome
        case ignore
    }

    enum OnRequest: Equatable, FrameAction {
        case dispatch
        case refuse(RefusalReason, credit: UInt32)
        case close(CloseReason)
        case ignore
    }

    enum RefusalReason: Equatable {
        case tooManyInFlight
        case draining
    }

    enum OnCancel: Equatable, FrameAction {
        case cancel
        case close(CloseReason)
        case ignore
    }

    enum OnCredit: Equatable, FrameAction {
        /// Resume streams that waited for credit.
        case resume
        case close(CloseReason)
        case ignore
    }

    enum OnControlFrame: Equatable, FrameAction {
        case accept
        case close(CloseReason)
        case ignore
    }

    enum OnAssetData: Equatable, FrameAction {
        case accept
        case close(CloseReason)
        /// The stream has ended, possibly before the client knew.
        case ignore
    }

    enum OnStreamEnd: Equatable {
        /// Grant this much to the peer; nothing if 0.
        case goOn(credit: UInt32)
        /// That was the last stream of a draining connection.
        case close(CloseReason)
        case ignore
    }
}
