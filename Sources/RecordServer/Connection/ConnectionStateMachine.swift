import NIOCore
import Transport
import WireProtocol

/// The server's side of a connection.
///
///     awaitingHello ──hello──▶ signingIn ──signed in──▶ open
///           └─────hello─▶ awaitingProof ─proof─▲
///
/// `ConnectionMachine` has the remaining states.
typealias ConnectionStateMachine = ConnectionMachine<ServerSide>

// MARK: - Handshake

extension ConnectionMachine where Side == ServerSide {
    init(bounds: ConnectionBounds) {
        self = .handshake(.awaitingHello(bounds))
    }

    /// The client's first frame arrived; chooses the first offered version that this server speaks.
    mutating func helloReceived(
        versions: [UInt32],
        windows: Windows,
        isService: Bool = false
    ) -> ServerSide.OnHello {
        self.handshakeFrameReceived(late: .secondHello) { handshake throws(CloseReason) in
            guard case .awaitingHello(let bounds) = handshake else { throw .secondHello }
            guard let version = versions.first(where: { $0 == ProtocolVersion.current }) else {
                throw .versionUnsupported
            }
            handshake = isService ? .awaitingProof(bounds, peer: windows) : .signingIn(bounds, peer: windows)
            return isService ? .challenge(version: version) : .signIn(version: version)
        }
    }

    /// The proof of a challenge arrived; each challenge has one.
    mutating func proofReceived() -> ServerSide.OnProof {
        self.handshakeFrameReceived(late: .frameKindUnexpected) { handshake throws(CloseReason) in
            switch handshake {
            case .awaitingHello: throw .requestBeforeHello
            case .signingIn: throw .frameKindUnexpected
            case .awaitingProof(let bounds, let peer):
                handshake = .signingIn(bounds, peer: peer)
                return .signIn
            }
        }
    }

    /// The credential was accepted, or there was none.
    ///
    /// - Parameter controlFrames: Limits the control frames of all connections of the account.
    ///
    /// - Returns: Whether to send the welcome.
    mutating func signedIn(controlFrames: ControlFramePace = ControlFramePace()) -> ServerSide.OnSignIn {
        switch consume self {
        case .handshake(.signingIn(let bounds, let peer)):
            self = .open(
                OpenConnection(
                    side: ServerSide(bounds: bounds, peer: peer, controlFrames: controlFrames),
                    sending: SendWindow(bytes: peer.connectionBytes),
                    receiving: ReceiveWindow(bytes: bounds.receiveWindowBytes)
                )
            )
            return .welcome
        case .closed:
            self = .closed
            return .ignore
        case .handshake: preconditionFailure("signed in before the credential was looked up")
        case .open: preconditionFailure("signed in twice")
        }
    }

    /// The time for TLS and the handshake is over.
    ///
    /// - Returns: Whether to close the connection for that.
    mutating func handshakeTimeoutPassed() -> Bool {
        switch consume self {
        case .handshake:
            self = .closed
            return true
        case .open(let open):
            self = .open(open)
            return false
        case .closed:
            self = .closed
            return false
        }
    }
}

// MARK: - Streams

extension ConnectionMachine where Side == ServerSide {
    /// A request frame arrived.
    mutating func requestReceived(_ stream: UInt32, payloadBytes: Int) -> ServerSide.OnRequest {
        self.frameReceived { open throws(CloseReason) in
            try open.request(stream, payloadBytes: payloadBytes)
        }
    }

    /// A cancel frame arrived.
    mutating func cancelReceived(_ stream: UInt32, now: NIODeadline) -> ServerSide.OnCancel {
        self.frameReceived { open throws(CloseReason) in try open.cancel(stream, now: now) }
    }

    /// A credit frame arrived.
    mutating func creditReceived(
        _ stream: UInt32,
        bytes: UInt32,
        now: NIODeadline
    ) -> ServerSide.OnCredit {
        self.frameReceived { open throws(CloseReason) in
            try open.credit(stream, bytes: bytes, now: now)
        }
    }

    /// A frame arrived that costs the peer nothing and belongs to no stream.
    ///
    /// That is a ping, an unsolicited pong, or a frame of an ignored kind.
    mutating func controlFrameReceived(now: NIODeadline) -> ServerSide.OnControlFrame {
        self.frameReceived { open throws(CloseReason) in
            try open.controlFrame(now: now)
            return .accept
        }
    }

    /// A notification_ack frame arrived.
    mutating func acknowledgementReceived(
        _ number: UInt64,
        by listener: inout ListenerStateMachine,
        now: NIODeadline
    ) -> ListenerStateMachine.OnAcknowledgement {
        self.frameReceived { open throws(CloseReason) in
            try open.acknowledgement(number, by: &listener, now: now)
        }
    }

    /// Whether both flow control windows for items of this stream are open.
    borrowing func maySendItems(on stream: UInt32) -> Bool {
        self.look(orElse: false) { $0.sending.isOpen && $0.streams[stream]?.window.isOpen == true }
    }

    /// A frame of items was sent.
    mutating func itemsSent(_ payloadBytes: Int, on stream: UInt32) {
        self.act(orElse: ()) { open in
            open.sending.sent(payloadBytes)
            open.streams[stream]?.window.sent(payloadBytes)
        }
    }

    /// The end frame of a stream is sent now.
    mutating func streamEnded(_ stream: UInt32) -> ServerSide.OnStreamEnd {
        self.act(orElse: .ignore) { open in
            let credit = open.end(stream)
            return open.isDrained ? .close(.drain) : .goOn(credit: credit)
        }
    }
}

// MARK: - Assets

extension ConnectionMachine where Side == ServerSide {
    /// An asset_data frame arrived.
    mutating func assetDataReceived(_ stream: UInt32, payloadBytes: Int) -> ServerSide.OnAssetData {
        self.frameReceived { open throws(CloseReason) in
            try open.assetData(stream, payloadBytes: payloadBytes)
        }
    }

    /// The request of a stream is an upload.
    mutating func uploadOpened(_ stream: UInt32) {
        self.act(orElse: ()) { $0.side.assetWindows.opened(stream) }
    }

    /// The server is ready for bytes of an upload.
    mutating func uploadGranted(_ stream: UInt32, bytes: UInt32) {
        self.act(orElse: ()) { $0.side.assetWindows.granted(stream, bytes: bytes) }
    }

    /// Bytes of an upload were written.
    ///
    /// - Returns: Credit to grant to its stream now, so that its window becomes `window`.
    mutating func assetBytesDisposed(_ payloadBytes: Int, on stream: UInt32, window: UInt32) -> UInt32 {
        self.act(orElse: 0) {
            $0.side.assetWindows.disposed(stream, payloadBytes: payloadBytes, window: window)
        }
    }

    /// A frame of a download was sent: it does not count against the windows of requests and
    /// responses.
    mutating func assetDataSent(_ payloadBytes: Int, on stream: UInt32) {
        self.act(orElse: ()) { $0.streams[stream]?.window.sent(payloadBytes) }
    }

    /// Whether a client may send bytes of an upload now.
    borrowing func mayReceiveAssetData(on stream: UInt32) -> Bool {
        self.look(orElse: false) { $0.side.assetWindows.isOpen(stream) }
    }

    /// The rest of a download's window; bytes may go while it is above 0.
    borrowing func assetCredit(on stream: UInt32) -> Int64 {
        self.look(orElse: 0) { $0.streams[stream]?.window.bytes ?? 0 }
    }
}
