import NIOCore
import WireProtocol

/// What a stream carries besides a request and items: the bytes of assets, one way or the other.
enum TransferStream: Hashable {
    case upload(UploadStream)
    case download(DownloadStream)
}

/// The streams of a connection that have not ended, and the windows in both directions.
struct OpenStreams {
    /// Credit to grant, in payload bytes.
    struct Grants: Hashable {
        static let nothing = Grants(connectionBytes: nil, streamBytes: nil)

        var connectionBytes: UInt32?
        var streamBytes: UInt32?
    }

    private struct Stream {
        var receiving: ReceiveWindow
        var transfer: TransferStream?
    }

    private let inFlightMax: Int
    private let streamWindowBytes: UInt32
    private var receiving: ReceiveWindow
    private var sending: SendWindow
    private var streams = StreamTable<Stream>()
    var notifications = NotificationSequence()
    /// `nil`: the numbers have run out.
    private var nextStream: UInt32?

    init(welcome: Welcome, granted: Windows, firstStream: UInt32 = 1) {
        self.nextStream = firstStream
        self.inFlightMax = Int(welcome.limits.inFlightMax)
        self.streamWindowBytes = granted.streamBytes
        self.receiving = ReceiveWindow(bytes: granted.connectionBytes)
        self.sending = SendWindow(bytes: welcome.windows.connectionBytes)
    }

    var isEmpty: Bool { self.streams.isEmpty }

    var admission: ClientStateMachine.Admission {
        guard let stream = self.nextStream else { return .refuse }
        guard self.sending.isOpen, self.streams.count < self.inFlightMax else { return .wait }
        return .open(stream: stream)
    }

    func contains(_ stream: UInt32) -> Bool {
        self.streams[stream] != nil
    }

    mutating func open(_ stream: UInt32, payloadBytes: Int, transfer: TransferStream? = nil) {
        precondition(stream == self.nextStream, "streams are opened in the order of their numbers")
        self.sending.spend(payloadBytes)
        self.streams[stream] = Stream(
            receiving: ReceiveWindow(bytes: self.streamWindowBytes),
            transfer: transfer
        )
        self.nextStream = stream < UInt32.max - 1 ? stream + 2 : nil
    }

    /// - Returns: What the server did wrong, if anything.
    mutating func close(_ stream: UInt32, isFailure: Bool) -> Violation? {
        guard let closed = self.streams.removeValue(of: stream) else { return .streamUnknown }
        guard !isFailure else { return nil }
        return switch closed.transfer {
        case .upload(let upload): upload.isSent ? nil : .transferUnfinished
        case .download(let download): download.isReceived ? nil : .transferUnfinished
        case nil: nil
        }
    }

    /// - Returns: What the server did wrong, if anything.
    mutating func receive(_ payloadBytes: Int, on stream: UInt32) -> Violation? {
        guard let isWithinStream = self.streams[stream]?.receiving.receive(payloadBytes) else {
            return .streamUnknown
        }
        guard self.receiving.receive(payloadBytes), isWithinStream else { return .creditExceeded }
        return nil
    }

    mutating func consume(_ payloadBytes: Int, on stream: UInt32) -> Grants {
        Grants(
            connectionBytes: self.receiving.consume(payloadBytes),
            streamBytes: self.consumeOfStream(payloadBytes, on: stream)
        )
    }

    /// Notes that bytes were disposed of which count against their stream's window alone, which is to be `window` from now on; `nil`: what was
    /// announced.
    mutating func consumeOfStream(
        _ payloadBytes: Int,
        on stream: UInt32,
        window: UInt32? = nil
    ) -> UInt32? {
        self.streams[stream]?.receiving.consume(payloadBytes, size: window) ?? nil
    }

    /// - Returns: Whether the server may grant this. Requests count against the connection's window alone, so that a
    ///   stream's counts for nothing but an upload's bytes.
    mutating func grant(_ bytes: UInt32, on stream: UInt32) -> Bool {
        guard stream != 0 else { return self.sending.grant(bytes) }
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

    mutating func uploaded(_ place: AssetPlace, bytes: Int, payloadBytes: Int, on stream: UInt32) {
        guard case .upload(var upload) = self.streams[stream]?.transfer else {
            preconditionFailure("bytes were sent on a stream that is no upload")
        }
        upload.sent(place, bytes: bytes, payloadBytes: payloadBytes)
        self.streams[stream]?.transfer = .upload(upload)
    }

    /// - Returns: What the server did wrong, if anything.
    mutating func receive(_ data: AssetData, on stream: UInt32) -> Violation? {
        guard let open = self.streams[stream] else { return .streamUnknown }
        guard case .download(var download) = open.transfer else { return .frameUnexpected }
        if let violation = download.received(data) { return violation }
        self.streams[stream]?.transfer = .download(download)
        let payloadBytes = AssetData.headerBytes + data.bytes.readableBytes
        let isWithinStream = self.streams[stream]?.receiving.receive(payloadBytes) ?? false
        return isWithinStream ? nil : .creditExceeded
    }

    /// - Returns: What the server did wrong, if anything.
    mutating func receive(_ offsets: AssetOffsets, on stream: UInt32) -> Violation? {
        guard let open = self.streams[stream] else { return .streamUnknown }
        guard case .upload(var upload) = open.transfer else { return .frameUnexpected }
        let violation = upload.offsetsReceived(offsets.offsets)
        self.streams[stream]?.transfer = .upload(upload)
        return violation
    }

    /// - Returns: What the server did wrong, if anything.
    mutating func receive(_ progress: Progress, on stream: UInt32) -> Violation? {
        guard let open = self.streams[stream] else { return .streamUnknown }
        switch open.transfer {
        case .upload(var upload):
            let violation = upload.progressReceived(progress)
            self.streams[stream]?.transfer = .upload(upload)
            return violation
        case .download(var download):
            let violation = download.progressReceived(progress)
            self.streams[stream]?.transfer = .download(download)
            return violation
        case nil: return .frameUnexpected
        }
    }
}
