import Transport
import WireProtocol

/// The client's side of a connection.
///
///     connecting ─connected─▶ (awaitingChallenge ─challenge─▶) awaitingWelcome ─welcome─▶ open
///
/// The rest of the way is `ConnectionMachine`'s.
///
/// Our bugs trap: a request or bytes sent without having been admitted. The server's bugs close:
/// frames out of place or out of order, streams that are not open, credit exceeded.
typealias ClientStateMachine = ConnectionMachine<ClientSide>

// MARK: - Handshake

extension ConnectionMachine where Side == ClientSide {
    init(windows: Windows, expectsChallenge: Bool = false) {
        self = .handshake(.connecting(windows, expectsChallenge: expectsChallenge))
    }

    /// TLS is up and has agreed on the protocol.
    mutating func connected() -> ClientSide.OnConnected {
        switch consume self {
        case .handshake(.connecting(let windows, let expectsChallenge)):
            self = .handshake(expectsChallenge ? .awaitingChallenge(windows) : .awaitingWelcome(windows))
            return .sendHello
        case .handshake(let handshake):
            self = .handshake(handshake)
            return .ignore
        case .open(let open):
            self = .open(open)
            return .ignore
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The server wants to see that this side has its key: once, and only of a service.
    mutating func challengeReceived() -> ClientSide.OnChallenge {
        self.handshakeFrameReceived(late: .frameUnexpected) { handshake throws(Violation) in
            guard case .awaitingChallenge(let windows) = handshake else { throw .frameUnexpected }
            handshake = .awaitingWelcome(windows)
            return .prove
        }
    }

    mutating func welcomeReceived(_ welcome: Welcome) -> ClientSide.OnWelcome {
        switch consume self {
        case .handshake(.awaitingWelcome(let granted)):
            self = .open(OpenConnection(welcome: welcome, granted: granted))
            return .announce
        case .handshake:
            self = .closed
            return .close(.frameUnexpected)
        case .open:
            self = .closed
            return .close(.frameUnexpected)
        case .closed:
            self = .closed
            return .ignore
        }
    }
}

// MARK: - Streams

extension ConnectionMachine where Side == ClientSide {
    /// Whether something of the server is awaited: a stream is open, or notifications are to come.
    var awaitsServer: Bool {
        self.look(orElse: false) { open in
            !open.streams.isEmpty || (open.side.notifications.isListening && !open.isDraining)
        }
    }

    /// A request waits to be sent.
    borrowing func requestReady() -> ClientSide.Admission {
        switch self {
        case .handshake: .wait
        case .open(let open): open.admission
        case .closed: .refuse
        }
    }

    /// The admitted request was written; with what its stream carries besides items.
    mutating func requestSent(stream: UInt32, payloadBytes: Int, transfer: TransferStream? = nil) {
        guard case .open(var open) = consume self, !open.isDraining else {
            preconditionFailure("a request was sent without having been admitted")
        }
        open.begin(stream, payloadBytes: payloadBytes, transfer: transfer)
        self = .open(open)
    }

    mutating func itemsReceived(stream: UInt32, payloadBytes: Int) -> ClientSide.OnDelivery {
        self.frameReceived { open throws(Violation) in
            try open.receive(payloadBytes, on: stream)
            return .deliver
        }
    }

    /// The items of a frame were handed over.
    ///
    /// - Returns: What to grant.
    mutating func itemsConsumed(stream: UInt32, payloadBytes: Int) -> ClientSide.Grants {
        self.act(orElse: .nothing) { open in
            ClientSide.Grants(
                connectionBytes: open.receiving.disposed(payloadBytes),
                streamBytes: open.streams[stream]?.receiving.disposed(payloadBytes) ?? 0
            )
        }
    }

    mutating func endReceived(stream: UInt32, isFailure: Bool = false) -> ClientSide.OnEnd {
        self.frameReceived { open throws(Violation) in
            try open.end(stream, isFailure: isFailure)
            return open.isDrained ? .finishAndClose : .finish
        }
    }

    mutating func creditReceived(stream: UInt32, bytes: UInt32) -> ClientSide.OnCredit {
        self.frameReceived { open throws(Violation) in
            guard open.grant(bytes, on: stream) else { throw .creditInvalid }
            return .resume
        }
    }

    /// The caller does not want the response any more.
    ///
    /// The stream stays open until the server ends it.
    borrowing func cancelled(stream: UInt32) -> ClientSide.OnCancel {
        self.look(orElse: .ignore) { $0.streams[stream] == nil ? .ignore : .sendCancel }
    }
}

// MARK: - Listening

/// The frames that the server may send on stream 0 once it was asked, and the replies to them.
extension ConnectionMachine where Side == ClientSide {
    /// The request that was just sent on a stream is `listen`.
    mutating func listenSent(stream: UInt32) {
        self.act(orElse: ()) { $0.side.notifications.listenSent(stream: stream) }
    }

    /// Whether `listen` was sent on the stream and has no response yet.
    borrowing func isListen(_ stream: UInt32) -> Bool {
        self.look(orElse: false) { $0.side.notifications.isListen(stream) }
    }

    /// The stream of `listen` is about to end.
    mutating func listenAnswered(isAccepted: Bool) {
        self.act(orElse: ()) { $0.side.notifications.listenAnswered(isAccepted: isAccepted) }
    }

    mutating func notificationReceived(_ number: UInt64) -> ClientSide.OnDelivery {
        self.frameReceived { open throws(Violation) in
            try open.side.notifications.receive(number)
            return .deliver
        }
    }

    /// All notifications up to this one are taken care of.
    mutating func notificationsTaken(upTo number: UInt64) {
        self.act(orElse: ()) { $0.side.notifications.take(upTo: number) }
    }

    /// The position to acknowledge before anything else is sent; `nil` if nothing is new.
    mutating func acknowledgementDue() -> UInt64? {
        guard self.isOpen else { return nil }
        return self.act(orElse: nil) { $0.side.notifications.acknowledge() }
    }
}

// MARK: - Assets

/// Bytes of assets on the streams of uploads and downloads, and the messages of the server about
/// them.
extension ConnectionMachine where Side == ClientSide {
    mutating func assetDataReceived(_ data: AssetData, stream: UInt32) -> ClientSide.OnDelivery {
        self.frameReceived { open throws(Violation) in
            try open.receive(data, on: stream)
            return .deliver
        }
    }

    mutating func assetOffsetsReceived(_ offsets: AssetOffsets, stream: UInt32) -> ClientSide.OnDelivery {
        self.frameReceived { open throws(Violation) in
            try open.receive(offsets, on: stream)
            return .deliver
        }
    }

    mutating func progressReceived(_ progress: Progress, stream: UInt32) -> ClientSide.OnDelivery {
        self.frameReceived { open throws(Violation) in
            try open.receive(progress, on: stream)
            return .deliver
        }
    }

    /// Whether bytes of an upload may be sent now.
    borrowing func mayUpload(stream: UInt32) -> Bool {
        self.look(orElse: false) { $0.mayUpload(on: stream) }
    }

    /// Bytes of an upload were written, for which there was room.
    mutating func assetDataSent(_ position: AssetOffset, bytes: Int, payloadBytes: Int, stream: UInt32) {
        self.act(orElse: ()) {
            $0.uploaded(position, bytes: bytes, payloadBytes: payloadBytes, on: stream)
        }
    }

    /// Bytes of a download were consumed; their payloads had this many bytes together.
    ///
    /// From now on the stream has the window `window`, or the announced one if that is `nil` or
    /// less.
    ///
    /// - Returns: What to grant to the stream; nothing if 0.
    mutating func assetDataConsumed(
        payloadBytes: Int,
        stream: UInt32,
        window: UInt32? = nil
    ) -> UInt32 {
        self.act(orElse: 0) { open in
            let size = max(window ?? 0, open.side.streamWindowBytes)
            return open.streams[stream]?.receiving.disposed(payloadBytes, size: size) ?? 0
        }
    }
}
