import NIOCore
import Transport
import WireProtocol

// Events of an open connection, as the server treats them.
extension OpenConnection where Side == ServerSide {
    mutating func request(
        _ stream: UInt32,
        payloadBytes: Int
    ) throws(CloseReason) -> ServerSide.OnRequest {
        guard !stream.isMultiple(of: 2), stream > self.side.lastStream else { throw .streamInvalid }
        guard self.receiving.received(payloadBytes) else { throw .creditExceeded }
        self.side.lastStream = stream
        let inFlightMax = self.side.bounds.inFlightMax
        let isFull = self.streams.count >= inFlightMax
        guard isFull || self.isDraining else {
            self.streams[stream] = ServerSide.Stream(
                requestBytes: payloadBytes,
                window: SendWindow(bytes: self.side.streamWindowBytes)
            )
            return .dispatch
        }
        self.side.refusedInRow += 1
        guard self.streams.count + self.side.refusedInRow <= 2 * inFlightMax else {
            throw .tooManyInFlight
        }
        return .refuse(
            self.isDraining ? .draining : .tooManyInFlight,
            credit: self.receiving.disposed(payloadBytes)
        )
    }

    mutating func cancel(_ stream: UInt32, now: NIODeadline) throws(CloseReason) -> ServerSide.OnCancel {
        try self.controlFrame(now: now)
        guard self.side.wasOpened(stream) else { throw .streamInvalid }
        guard let isCancelled = self.streams[stream]?.isCancelled, !isCancelled else { return .ignore }
        self.streams[stream]?.isCancelled = true
        return .cancel
    }

    mutating func credit(
        _ stream: UInt32,
        bytes: UInt32,
        now: NIODeadline
    ) throws(CloseReason) -> ServerSide.OnCredit {
        let window = stream == 0 ? self.sending : self.streams[stream]?.window
        if window?.isEarned(bytes) != true { try self.controlFrame(now: now) }
        if stream == 0 {
            guard self.sending.granted(bytes) else { throw .creditInvalid }
            return .resume
        }
        guard self.side.wasOpened(stream) else { throw .streamInvalid }
        guard bytes > 0 else { throw .creditInvalid }
        guard self.streams[stream] != nil else { return .ignore }
        guard self.streams[stream]?.window.granted(bytes) == true else { throw .creditInvalid }
        return .resume
    }

    mutating func controlFrame(now: NIODeadline) throws(CloseReason) {
        guard self.side.controlFrames.received(at: now) else { throw .tooManyControlFrames }
    }

    /// An acknowledgement without effect costs the peer nothing.
    mutating func acknowledgement(
        _ number: UInt64,
        by listener: inout ListenerStateMachine,
        now: NIODeadline
    ) throws(CloseReason) -> ListenerStateMachine.OnAcknowledgement {
        let action = listener.acknowledged(number)
        switch action {
        case .acknowledge: break
        case .ignore: try self.controlFrame(now: now)
        case .close(let reason): throw reason
        }
        return action
    }

    mutating func assetData(
        _ stream: UInt32,
        payloadBytes: Int
    ) throws(CloseReason) -> ServerSide.OnAssetData {
        guard self.side.wasOpened(stream) else { throw .streamInvalid }
        let isOpen = self.streams[stream] != nil
        return try self.side.assetWindows.received(stream, payloadBytes: payloadBytes, isOpen: isOpen)
    }

    /// Forgets an answered stream.
    ///
    /// - Returns: Credit to grant the peer now.
    mutating func end(_ stream: UInt32) -> UInt32 {
        guard let ended = self.streams.removeValue(of: stream) else {
            preconditionFailure("a stream ended that was not open")
        }
        self.side.refusedInRow = 0
        self.side.assetWindows.ended(stream)
        return self.receiving.disposed(ended.requestBytes)
    }
}
