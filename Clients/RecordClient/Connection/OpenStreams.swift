import WireProtocol

/// The streams of a connection that have not ended, and the windows in both directions.
struct OpenStreams {
    /// Credit to grant, in payload bytes.
    struct Grants: Hashable {
        static let nothing = Grants(connectionBytes: nil, streamBytes: nil)

        var connectionBytes: UInt32?
        var streamBytes: UInt32?
    }

    private let inFlightMax: Int
    private let streamWindowBytes: UInt32
    private var receiving: ReceiveWindow
    private var sending: SendWindow
    private var streams = StreamTable<ReceiveWindow>()
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

    mutating func open(_ stream: UInt32, payloadBytes: Int) {
        precondition(stream == self.nextStream, "streams are opened in the order of their numbers")
        self.sending.spend(payloadBytes)
        self.streams[stream] = ReceiveWindow(bytes: self.streamWindowBytes)
        self.nextStream = stream < UInt32.max - 1 ? stream + 2 : nil
    }

    /// - Returns: Whether the stream was open.
    mutating func close(_ stream: UInt32) -> Bool {
        self.streams.removeValue(of: stream) != nil
    }

    /// - Returns: What the server did wrong, if anything.
    mutating func receive(_ payloadBytes: Int, on stream: UInt32) -> Violation? {
        guard let isWithinStream = self.streams[stream]?.receive(payloadBytes) else { return .streamUnknown }
        guard self.receiving.receive(payloadBytes), isWithinStream else { return .creditExceeded }
        return nil
    }

    mutating func consume(_ payloadBytes: Int, on stream: UInt32) -> Grants {
        Grants(
            connectionBytes: self.receiving.consume(payloadBytes),
            streamBytes: self.streams[stream]?.consume(payloadBytes) ?? nil
        )
    }

    /// - Returns: Whether the server may grant this. Requests count against the connection's window alone, so that a
    ///   stream's is not kept.
    mutating func grant(_ bytes: UInt32, on stream: UInt32) -> Bool {
        stream == 0 ? self.sending.grant(bytes) : bytes > 0
    }
}
