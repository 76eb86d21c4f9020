import NIOCore
import WireProtocol

/// What the machine must know of a server's limits.
struct ConnectionBounds: Hashable, Sendable {
    /// Requests without an answer; twice as many close the connection.
    var inFlightMax: Int
    /// What the server takes of requests before it grants more.
    var receiveWindowBytes: UInt32
}

/// Streams, windows and counts of a connection after its handshake.
///
/// Every function is one event's rule; the machine around it says in which states the rule holds.
struct OpenConnection {
    struct Stream: Hashable, Sendable {
        var requestBytes: Int
        var window: SendWindow
        var isCancelled = false
    }

    let bounds: ConnectionBounds
    private let streamWindowBytes: UInt32
    private(set) var streams = StreamTable<Stream>()
    private(set) var sendWindow: SendWindow
    private var receiveWindow: ReceiveWindow
    private var lastStream: UInt32 = 0
    /// Requests refused since a stream last ended: the client had not heard of it when it sent them.
    private var refusedInRow = 0
    private var controlFrames: ControlFrameBudget
    var assetWindows = AssetWindows()

    init(bounds: ConnectionBounds, peer: Windows, controlFrames: ControlFramePace) {
        self.bounds = bounds
        self.controlFrames = ControlFrameBudget(pace: controlFrames)
        self.streamWindowBytes = peer.streamBytes
        self.sendWindow = SendWindow(bytes: peer.connectionBytes)
        self.receiveWindow = ReceiveWindow(bytes: bounds.receiveWindowBytes)
    }

    mutating func request(
        _ stream: UInt32,
        payloadBytes: Int,
        isDraining: Bool
    ) -> ConnectionStateMachine.OnRequest {
        guard !stream.isMultiple(of: 2), stream > self.lastStream else { return .close(.streamInvalid) }
        guard self.receiveWindow.received(payloadBytes) else { return .close(.creditExceeded) }
        self.lastStream = stream
        let isFull = self.streams.count >= self.bounds.inFlightMax
        guard isFull || isDraining else {
            self.streams[stream] = Stream(
                requestBytes: payloadBytes,
                window: SendWindow(bytes: self.streamWindowBytes)
            )
            return .dispatch
        }
        self.refusedInRow += 1
        guard self.streams.count + self.refusedInRow <= 2 * self.bounds.inFlightMax else {
            return .close(.tooManyInFlight)
        }
        return .refuse(
            isDraining ? .draining : .tooManyInFlight,
            credit: self.receiveWindow.disposed(payloadBytes)
        )
    }

    mutating func cancel(_ stream: UInt32, now: NIODeadline) -> ConnectionStateMachine.OnCancel {
        guard self.controlFrames.received(at: now) else { return .close(.tooManyControlFrames) }
        guard self.wasOpened(stream) else { return .close(.streamInvalid) }
        guard let isCancelled = self.streams[stream]?.isCancelled, !isCancelled else { return .ignore }
        self.streams[stream]?.isCancelled = true
        return .cancel
    }

    mutating func credit(
        _ stream: UInt32,
        bytes: UInt32,
        now: NIODeadline
    ) -> ConnectionStateMachine.OnCredit {
        let window = stream == 0 ? self.sendWindow : self.streams[stream]?.window
        guard window?.isEarned(bytes) == true || self.controlFrames.received(at: now) else {
            return .close(.tooManyControlFrames)
        }
        if stream == 0 {
            return self.sendWindow.granted(bytes) ? .resume : .close(.creditInvalid)
        }
        guard self.wasOpened(stream) else { return .close(.streamInvalid) }
        guard bytes > 0 else { return .close(.creditInvalid) }
        guard self.streams[stream] != nil else { return .ignore }
        return self.streams[stream]?.window.granted(bytes) == true ? .resume : .close(.creditInvalid)
    }

    mutating func controlFrame(now: NIODeadline) -> ConnectionStateMachine.OnControlFrame {
        self.controlFrames.received(at: now) ? .accept : .close(.tooManyControlFrames)
    }

    /// One that acknowledges nothing new costs the peer nothing.
    mutating func acknowledgement(
        _ number: UInt64,
        by listener: inout ListenerStateMachine,
        now: NIODeadline
    ) -> ListenerStateMachine.OnAcknowledgement {
        let action = listener.acknowledged(number)
        guard action == .nothingNew, !self.controlFrames.received(at: now) else { return action }
        return .close(.tooManyControlFrames)
    }

    func maySendItems(on stream: UInt32) -> Bool {
        guard self.sendWindow.isOpen, let open = self.streams[stream] else { return false }
        return open.window.isOpen
    }

    mutating func itemsSent(_ payloadBytes: Int, on stream: UInt32) {
        self.sendWindow.sent(payloadBytes)
        self.streams[stream]?.window.sent(payloadBytes)
    }

    mutating func assetData(_ stream: UInt32, payloadBytes: Int) -> AssetWindows.OnAssetData {
        guard self.wasOpened(stream) else { return .close(.streamInvalid) }
        let isOpen = self.streams[stream] != nil
        return self.assetWindows.received(stream, payloadBytes: payloadBytes, isOpen: isOpen)
    }

    /// Bytes of assets take nothing of the room of requests and answers.
    mutating func assetDataSent(_ payloadBytes: Int, on stream: UInt32) {
        self.streams[stream]?.window.sent(payloadBytes)
    }

    /// Forgets a stream that was answered; what to grant the peer now.
    mutating func end(_ stream: UInt32) -> UInt32 {
        guard let ended = self.streams.removeValue(of: stream) else {
            preconditionFailure("a stream ended that was not open")
        }
        self.refusedInRow = 0
        self.assetWindows.ended(stream)
        return self.receiveWindow.disposed(ended.requestBytes)
    }

    private func wasOpened(_ stream: UInt32) -> Bool {
        !stream.isMultiple(of: 2) && stream <= self.lastStream
    }
}
