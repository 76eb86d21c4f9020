import WireProtocol

/// Assets: their bytes on the streams of uploads and downloads, and what the server says about them.
///
/// Our bugs trap: bytes sent without room for them. The server's bugs close: frames on streams that are no such transfer, out of order or
/// beyond credit. Harmless races are ignored: whatever concerns a stream or a connection that has ended on this side.
extension ClientStateMachine {
    enum OnTransfer: Equatable {
        case deliver
        case violation(Violation)
        case ignore
    }

    mutating func assetDataReceived(_ data: AssetData, stream: UInt32) -> OnTransfer {
        self.transferReceived { $0.receive(data, on: stream) }
    }

    mutating func assetOffsetsReceived(_ offsets: AssetOffsets, stream: UInt32) -> OnTransfer {
        self.transferReceived { $0.receive(offsets, on: stream) }
    }

    mutating func progressReceived(_ progress: Progress, stream: UInt32) -> OnTransfer {
        self.transferReceived { $0.receive(progress, on: stream) }
    }

    private mutating func transferReceived(_ take: (inout OpenStreams) -> Violation?) -> OnTransfer {
        switch consume self {
        case .connecting:
            self = .closed
            return .violation(.frameUnexpected)
        case .awaitingWelcome:
            self = .closed
            return .violation(.frameUnexpected)
        case .open(var streams):
            if let violation = take(&streams) {
                self = .closed
                return .violation(violation)
            }
            self = .open(streams)
            return .deliver
        case .draining(var streams):
            if let violation = take(&streams) {
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

    /// Whether bytes of an upload may be sent now.
    borrowing func mayUpload(stream: UInt32) -> Bool {
        switch self {
        case .connecting: false
        case .awaitingWelcome: false
        case .open(let streams): streams.mayUpload(on: stream)
        case .draining(let streams): streams.mayUpload(on: stream)
        case .closed: false
        }
    }

    /// Bytes of an upload were written, for which there was room.
    mutating func assetDataSent(_ place: AssetPlace, bytes: Int, payloadBytes: Int, stream: UInt32) {
        switch consume self {
        case .connecting: preconditionFailure("bytes were sent before the handshake")
        case .awaitingWelcome: preconditionFailure("bytes were sent before the handshake")
        case .open(var streams):
            streams.uploaded(place, bytes: bytes, payloadBytes: payloadBytes, on: stream)
            self = .open(streams)
        case .draining(var streams):
            streams.uploaded(place, bytes: bytes, payloadBytes: payloadBytes, on: stream)
            self = .draining(streams)
        case .closed: self = .closed
        }
    }

    /// Bytes of a download were disposed of, which came in payloads of so many together; the window of the stream is to be `window` from now on,
    /// `nil`: what was announced.
    ///
    /// - Returns: What to grant to the stream.
    mutating func assetDataConsumed(
        payloadBytes: Int,
        stream: UInt32,
        window: UInt32? = nil
    ) -> UInt32? {
        switch consume self {
        case .connecting(let handshake):
            self = .connecting(handshake)
            return nil
        case .awaitingWelcome(let handshake):
            self = .awaitingWelcome(handshake)
            return nil
        case .open(var streams):
            let grant = streams.consumeOfStream(payloadBytes, on: stream, window: window)
            self = .open(streams)
            return grant
        case .draining(var streams):
            let grant = streams.consumeOfStream(payloadBytes, on: stream, window: window)
            self = .draining(streams)
            return grant
        case .closed:
            self = .closed
            return nil
        }
    }
}
