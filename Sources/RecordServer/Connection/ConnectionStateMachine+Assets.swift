import WireProtocol

// Events of uploads and downloads: what their bytes count against.
extension ConnectionStateMachine {
    /// An asset_data frame arrived.
    mutating func assetDataReceived(_ stream: UInt32, payloadBytes: Int) -> AssetWindows.OnAssetData {
        switch consume self {
        case .awaitingHello:
            self = .closed
            return .close(.requestBeforeHello)
        case .signingIn:
            self = .closed
            return .close(.requestBeforeHello)
        case .open(var open):
            let action = open.assetData(stream, payloadBytes: payloadBytes)
            if case .close = action {
                self = .closed
            } else {
                self = .open(open)
            }
            return action
        case .draining(var open):
            let action = open.assetData(stream, payloadBytes: payloadBytes)
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

    /// The request of a stream is an upload.
    mutating func uploadOpened(_ stream: UInt32) {
        self.change { $0.assetWindows.opened(stream) }
    }

    /// The server is ready for the bytes of an upload.
    mutating func uploadGranted(_ stream: UInt32, bytes: UInt32) {
        self.change { $0.assetWindows.granted(stream, bytes: bytes) }
    }

    /// Bytes of an upload were written; what to grant to its stream now, so that its window becomes this large.
    mutating func assetBytesDisposed(_ payloadBytes: Int, on stream: UInt32, window: UInt32) -> UInt32 {
        var grant: UInt32 = 0
        self.change { grant = $0.assetWindows.disposed(stream, payloadBytes: payloadBytes, window: window) }
        return grant
    }

    /// A frame of a download went out.
    mutating func assetDataSent(_ payloadBytes: Int, on stream: UInt32) {
        self.change { $0.assetDataSent(payloadBytes, on: stream) }
    }

    /// Whether a client may send bytes of an upload now.
    borrowing func mayReceiveAssetData(on stream: UInt32) -> Bool {
        switch self {
        case .awaitingHello: false
        case .signingIn: false
        case .closed: false
        case .open(let open): open.assetWindows.isOpen(stream)
        case .draining(let open): open.assetWindows.isOpen(stream)
        }
    }

    /// What the window of a download has; bytes may go while it is above 0.
    borrowing func assetCredit(on stream: UInt32) -> Int64 {
        switch self {
        case .awaitingHello: 0
        case .signingIn: 0
        case .closed: 0
        case .open(let open): open.streams[stream]?.window.bytes ?? 0
        case .draining(let open): open.streams[stream]?.window.bytes ?? 0
        }
    }

    var isDraining: Bool {
        switch self {
        case .awaitingHello: false
        case .signingIn: false
        case .open: false
        case .closed: false
        case .draining: true
        }
    }

    /// An event that only this side causes, after the handshake.
    private mutating func change(_ body: (inout OpenConnection) -> Void) {
        switch consume self {
        case .open(var open):
            body(&open)
            self = .open(open)
        case .draining(var open):
            body(&open)
            self = .draining(open)
        case .closed:
            self = .closed
        case .awaitingHello:
            preconditionFailure("a transfer before the hello")
        case .signingIn:
            preconditionFailure("a transfer before the welcome")
        }
    }
}
