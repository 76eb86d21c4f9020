import Logging
import NIOCore
import RecordStore
import Transport
import WireProtocol

/// The state that the parts of a connection share: the state machine, the frames of a tick, and the
/// shutdown.
///
/// Used on its event loop. `ConnectionHandler` reports channel events; all parts write through it,
/// and any of them may end it.
final class Connection {
    /// Output of one tick is flushed at its end or beyond this size: a page of 200 records and its
    /// end leave together.
    private static let outputBytesMax = 160 * 1_024

    let shared: ConnectionShared
    let loop: LoopContext
    let eventLoop: any EventLoop
    /// The origin of changes that this connection makes.
    let number: UInt64
    /// Network of the peer's address, which is charged until a user is signed in.
    let network: String
    /// The address' account, then the user's from the welcome on.
    var account: Account
    var machine: ConnectionStateMachine
    /// Until then, other requests are assumed to travel beside transfers.
    var busyUntil = NIODeadline.uptimeNanoseconds(0)
    /// Called once, after the last write and read.
    var ended: (() -> Void)?
    /// Makes the promise for each flush; `nil` if no part needs one.
    var flushPromise: (() -> EventLoopPromise<Void>?)?

    /// For lines of the log.
    private(set) var label: ConnectionLabel
    /// `nil` when the connection has ended or is ending.
    private(set) var context: ChannelHandlerContext?
    /// Frames of this tick, flushed together.
    private var output = ByteBuffer()
    /// Runs while the socket takes nothing.
    private var socketTimer = SlowReaderTimer()

    init(_ arrival: Arrival, shared: ConnectionShared, loop: LoopContext, eventLoop: any EventLoop) {
        self.shared = shared
        self.loop = loop
        self.eventLoop = eventLoop
        self.number = arrival.number
        self.network = arrival.network
        self.account = arrival.account
        self.label = ConnectionLabel(connection: arrival.number, peer: "")
        self.machine = ConnectionStateMachine(bounds: shared.bounds)
    }

    /// An accepted connection.
    struct Arrival {
        /// From 1, never reused while the server runs.
        let number: UInt64
        let network: String
        let account: Account
        /// The server was full: the connection only gets a refusal.
        let isRefused: Bool
        /// SHA-256 of the server's certificate.
        let certificateHash: [UInt8]
    }

    var isOpen: Bool { self.context != nil }

    /// Whether the socket takes bytes; `false` when the connection has ended.
    var isWritable: Bool { self.context?.channel.isWritable ?? false }

    /// The connection has a channel.
    func opened(in context: ChannelHandlerContext) {
        self.context = context
        self.label = ConnectionLabel(
            connection: self.number,
            peer: Self.name(of: context.channel.remoteAddress)
        )
    }

    /// A user is signed in.
    func signedIn(_ user: ConnectionUser) {
        self.label.container = user.container
        self.label.user = user.signIn.userRecordName ?? ""
    }
}

// MARK: - Frames out

extension Connection {
    /// Writes a frame; a closure appends the payload.
    ///
    /// - Returns: Bytes of the payload; 0 if the connection has ended.
    @discardableResult
    func write(_ kind: FrameKind, stream: UInt32, payload: (inout ByteBuffer) -> Void) -> Int {
        guard let context else { return 0 }
        self.prepareOutput(context)
        return FrameEncoder.write(kind, stream: stream, into: &self.output, payload: payload)
    }

    func write(_ frame: Frame) {
        guard let context else { return }
        self.prepareOutput(context)
        FrameEncoder.write(frame, into: &self.output)
    }

    /// Writes the last frame of a stream.
    func write(_ end: End, on stream: UInt32) {
        if self.isOpen, let failure = end.failure { self.shared.metrics.failed(failure.code) }
        self.write(.end, stream: stream) { end.encode(into: &$0) }
    }

    /// Grants credit to the peer; writes nothing if it is 0.
    func writeCredit(_ bytes: UInt32, on stream: UInt32 = 0) {
        guard bytes > 0 else { return }
        self.write(Frame(kind: .credit, stream: stream, payload: Credit(bytes: bytes).encoded()))
    }

    func writeProgress(_ doneBytes: Int64, of totalBytes: Int64, on stream: UInt32) {
        let progress = Progress(doneBytes: doneBytes, totalBytes: totalBytes)
        self.write(Frame(kind: .progress, stream: stream, payload: progress.encoded()))
    }

    /// Writes an encoded frame among the others of this tick.
    ///
    /// - Parameters:
    ///   - frame: With its header.
    ///   - bytesMax: The others are flushed first if the total would exceed this.
    func write(encoded frame: ByteBuffer, flushingAt bytesMax: Int) {
        if self.output.readableBytes + frame.readableBytes > bytesMax { self.flush() }
        guard let context else { return }
        self.prepareOutput(context)
        self.output.writeImmutableBuffer(frame)
    }

    /// Hands an encoded frame to the channel in parts, without a copy, after earlier output.
    ///
    /// - Parameters:
    ///   - frame: With its header.
    ///   - partBytesMax: Bytes of a part.
    ///   - promise: Succeeds when the socket has taken the frame.
    func write(alone frame: ByteBuffer, partBytesMax: Int, promise: EventLoopPromise<Void>) {
        let context = self.context
        self.flush()
        guard let context else { return promise.fail(ChannelError.ioOnClosedChannel) }
        var frame = frame
        while let part = frame.readSlice(length: min(frame.readableBytes, partBytesMax)) {
            let isLast = frame.readableBytes == 0
            context.writeAndFlush(NIOAny(part), promise: isLast ? promise : nil)
            if isLast { break }
        }
    }

    private func prepareOutput(_ context: ChannelHandlerContext) {
        guard self.output.capacity == 0 else { return }
        self.output = self.loop.takeBuffer(allocator: context.channel.allocator)
    }

    /// Sends the output of this tick.
    func flush() {
        guard let context, self.output.readableBytes > 0 else { return }
        let frames = self.output
        self.output = ByteBuffer()
        context.writeAndFlush(NIOAny(frames), promise: self.flushPromise?())
        self.loop.giveBack(frames)
        self.watchSocket()
    }

    /// Sends the output of this tick if it is large, so that backpressure shows early.
    ///
    /// - Parameter bytesMax: The size that counts as large.
    func flushIfLarge(_ bytesMax: Int = Connection.outputBytesMax) {
        if self.output.readableBytes >= bytesMax { self.flush() }
    }

    /// Starts the timer for a socket that takes nothing; keeps a running timer.
    func watchSocket() {
        guard self.isOpen, !self.isWritable else { return }
        self.socketTimer.start(ending: self)
    }

    /// The socket takes bytes again.
    func socketOpened() { self.socketTimer.stop() }
}

// MARK: - The end

extension Connection {
    /// Sends a `goaway`, logs one line, and closes.
    ///
    /// - Parameters:
    ///   - reason: From the registry.
    ///   - detail: The field of the specification that is wrong.
    ///   - isLogged: Whether the line was logged before.
    func close(_ reason: CloseReason, detail: String = "", isLogged: Bool = false) {
        guard self.isOpen else { return }
        if !isLogged {
            self.shared.logger.log(
                level: reason == .drain || reason == .idle ? .debug : .info,
                "connection closed",
                metadata: self.label.metadata([
                    LogKeys.reason: "\(reason.text)", LogKeys.detail: "\(detail)",
                ])
            )
        }
        var goaway = GoAway(reason: reason, message: reason.text)
        switch reason {
        case .versionUnsupported: goaway.versions = [ProtocolVersion.current]
        case .overloaded: goaway.retryAfterMilliseconds = 1_000
        default: break
        }
        self.write(Frame(kind: .goaway, payload: goaway.encoded()))
        self.closeQuietly()
    }

    /// Closes after pending output.
    func closeQuietly() {
        guard self.isOpen else { return }
        self.flush()
        self.end()?.close(promise: nil)
    }

    /// Closes without a `goaway`, since the peer could not read it.
    func breakOff(_ message: Logger.Message, error: (any Error)? = nil, level: Logger.Level = .info) {
        guard self.isOpen else { return }
        self.shared.logger.log(
            level: level,
            message,
            metadata: self.label.metadata([
                LogKeys.error: "\(error.map { ConnectionFailureText.of($0) } ?? "")"
            ])
        )
        self.end()?.close(promise: nil)
    }

    /// The channel has closed.
    func channelClosed() { _ = self.end() }

    /// Releases everything that the connection holds.
    ///
    /// Later replies find no stream.
    private func end() -> ChannelHandlerContext? {
        let context = self.context
        _ = self.machine.connectionEnded()
        self.context = nil
        self.socketTimer.stop()
        self.output = ByteBuffer()
        self.flushPromise = nil
        let ended = self.ended
        self.ended = nil
        ended?()
        return context
    }

    /// Address and port of a peer.
    private static func name(of address: SocketAddress?) -> String {
        guard let address else { return "" }
        guard let host = address.ipAddress, let port = address.port else { return "\(address)" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
