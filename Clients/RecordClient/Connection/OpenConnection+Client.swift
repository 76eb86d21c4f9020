import NIOCore
import Transport
import WireProtocol

// Events of an open connection, as the client treats them.
extension OpenConnection where Side == ClientSide {
    init(welcome: Welcome, granted: Windows, firstStream: UInt32 = 1) {
        self.init(
            side: ClientSide(
                inFlightMax: Int(welcome.limits.inFlightMax),
                streamWindowBytes: granted.streamBytes,
                firstStream: firstStream
            ),
            sending: SendWindow(bytes: welcome.windows.connectionBytes),
            receiving: ReceiveWindow(bytes: granted.connectionBytes)
        )
    }

    var admission: ClientSide.Admission {
        guard let stream = self.side.nextStream, !self.isDraining else { return .refuse }
        guard self.sending.isOpen, self.streams.count < self.side.inFlightMax else { return .wait }
        return .open(stream: stream)
    }

    mutating func begin(_ stream: UInt32, payloadBytes: Int, transfer: TransferStream? = nil) {
        precondition(stream == self.side.nextStream, "streams are opened in the order of their numbers")
        self.sending.sent(payloadBytes)
        self.streams[stream] = ClientSide.Stream(
            receiving: ReceiveWindow(bytes: self.side.streamWindowBytes),
            transfer: transfer
        )
        self.side.nextStream = stream < UInt32.max - 1 ? stream + 2 : nil
    }

    mutating func end(_ stream: UInt32, isFailure: Bool) throws(Violation) {
        guard let ended = self.streams.removeValue(of: stream) else { throw .streamUnknown }
        guard !isFailure else { return }
        let isComplete =
            switch ended.transfer {
            case .upload(let upload): upload.isSent
            case .download(let download): download.isReceived
            case nil: true
            }
        guard isComplete else { throw .transferUnfinished }
    }

    mutating func receive(_ payloadBytes: Int, on stream: UInt32) throws(Violation) {
        guard let isWithinStream = self.streams[stream]?.receiving.received(payloadBytes) else {
            throw .streamUnknown
        }
        guard self.receiving.received(payloadBytes), isWithinStream else { throw .creditExceeded }
    }

    /// Requests count against the connection's window alone, so that a stream's counts for nothing
    /// but an upload's bytes.
    ///
    /// - Returns: Whether the server may grant this.
    mutating func grant(_ bytes: UInt32, on stream: UInt32) -> Bool {
        guard stream != 0 else { return self.sending.granted(bytes) }
        guard case .upload(var upload) = self.streams[stream]?.transfer else { return bytes > 0 }
        let isValid = upload.grant(bytes)
        self.streams[stream]?.transfer = .upload(upload)
        return isValid
    }

    // MARK: Transfers

    func mayUpload(on stream: UInt32) -> Bool {
        guard case .upload(let upload) = self.streams[stream]?.transfer else { return false }
        return upload.isOpen
    }

    mutating func uploaded(_ position: AssetOffset, bytes: Int, payloadBytes: Int, on stream: UInt32) {
        guard case .upload(var upload) = self.streams[stream]?.transfer else {
            preconditionFailure("bytes were sent on a stream that is no upload")
        }
        upload.sent(position, bytes: bytes, payloadBytes: payloadBytes)
        self.streams[stream]?.transfer = .upload(upload)
    }

    mutating func receive(_ data: AssetData, on stream: UInt32) throws(Violation) {
        guard let open = self.streams[stream] else { throw .streamUnknown }
        guard case .download(var download) = open.transfer else { throw .frameUnexpected }
        try download.received(data)
        self.streams[stream]?.transfer = .download(download)
        let payloadBytes = AssetData.headerBytes + data.bytes.readableBytes
        let isWithinStream = self.streams[stream]?.receiving.received(payloadBytes) ?? false
        guard isWithinStream else { throw .creditExceeded }
    }

    mutating func receive(_ offsets: AssetOffsets, on stream: UInt32) throws(Violation) {
        guard let open = self.streams[stream] else { throw .streamUnknown }
        guard case .upload(var upload) = open.transfer else { throw .frameUnexpected }
        try upload.offsetsReceived(offsets.offsets)
        self.streams[stream]?.transfer = .upload(upload)
    }

    mutating func receive(_ progress: Progress, on stream: UInt32) throws(Violation) {
        guard let open = self.streams[stream] else { throw .streamUnknown }
        switch open.transfer {
        case .upload(var upload):
            try upload.progressReceived(progress)
            self.streams[stream]?.transfer = .upload(upload)
        case .download(var download):
            try download.progressReceived(progress)
            self.streams[stream]?.transfer = .download(download)
        case nil: throw .frameUnexpected
        }
    }
}
