import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// Moves bytes once, and prints a report in JSON; the handshakes do not count.
struct Run: AsyncParsableCommand {
    @Option var port: Int
    @Option var mode: Mode
    @Option(help: "Bytes of a stream.") var total = 0
    @Option(help: "Bytes of a message.") var message = 1
    @Option(help: "Messages of all connections together.") var count = 0
    @Option var connections = 1
    @Option(help: "Messages of a connection that wait for their answers.") var inFlight = 1
    @Option(help: "Where what is fetched or loaded goes.") var folder = "."
    @Option(help: "What is stored.") var file = ""

    struct Report: Encodable {
        var seconds: Double
        var clientCPUSeconds: Double
    }

    struct Incomplete: Error {}

    func run() async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv13
        // The certificate is of no concern to a measurement of streams.
        tls.certificateVerification = .none
        let context = try NIOSSLContext(configuration: tls)
        let files = KeptFiles(folder: self.folder, isSynced: false)
        var runs: [AskingConnection.Handle] = []
        for number in 0..<self.connections {
            let share = self.count / self.connections + (number < self.count % self.connections ? 1 : 0)
            let header = Header(mode: self.mode, total: self.total, messageBytes: self.message)
            runs.append(
                try await AskingConnection.connect(
                    self.port,
                    context,
                    AskingConnection.Work(
                        header: header,
                        count: share,
                        inFlight: self.inFlight,
                        files: files,
                        file: self.file
                    )
                )
            )
        }
        let cpu = Self.cpuSeconds
        let start = ContinuousClock.now
        for run in runs { run.start() }
        for run in runs { try await run.finished.get() }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let report = Report(seconds: seconds, clientCPUSeconds: Self.cpuSeconds - cpu)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

private final class AskingConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Work: Sendable {
        var header: Header
        var count: Int
        var inFlight: Int
        var files: KeptFiles
        var file: String
    }

    /// A connection whose handshake is over.
    struct Handle: Sendable {
        let finished: EventLoopFuture<Void>
        let start: @Sendable () -> Void
    }

    private let work: Work
    private let ready: EventLoopPromise<Void>
    private let finished: EventLoopPromise<Void>
    private var source: Source
    private var stored: FileSource?
    private var loaded: KeptStream?
    private var messagesLeft: Int
    /// Bytes that are still to come, or messages that are still to be kept.
    private var awaited: Int
    /// What came of a message.
    private var held = ByteBuffer()

    private init(_ work: Work, on eventLoop: any EventLoop) {
        self.work = work
        self.ready = eventLoop.makePromise()
        self.finished = eventLoop.makePromise()
        self.source = Source(work.header.mode == .upload ? work.header.total : 0)
        self.messagesLeft = work.count
        self.awaited =
            switch work.header.mode {
            case .upload, .store, .load: 1
            case .download: work.header.total
            case .keep, .fetch: work.count
            }
    }

    static func connect(_ port: Int, _ tls: NIOSSLContext, _ work: Work) async throws -> Handle {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let handler = NIOLoopBoundBox.makeBoxSendingValue(
            AskingConnection(work, on: eventLoop),
            eventLoop: eventLoop
        )
        let (ready, finished) = try await eventLoop.submit {
            (handler.value.ready.futureResult, handler.value.finished.futureResult)
        }.get()
        let channel = try await ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: tls, serverHostname: nil),
                        handler.value
                    )
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .get()
        try await ready.get()
        return Handle(finished: finished) {
            eventLoop.execute {
                guard let context = try? channel.pipeline.syncOperations.context(handler: handler.value)
                else { return }
                handler.value.begin(context)
            }
        }
    }

    private func begin(_ context: ChannelHandlerContext) {
        context.writeAndFlush(NIOAny(self.work.header.buffer), promise: nil)
        do {
            switch self.work.header.mode {
            case .upload, .download: self.source.write(to: context)
            case .keep, .fetch: self.ask(min(self.work.inFlight, self.messagesLeft), context)
            case .store:
                self.stored = try FileSource(path: self.work.file, total: self.work.header.total)
                self.stored?.write(to: context)
            case .load: try self.load(context)
            }
        } catch {
            self.errorCaught(context: context, error: error)
        }
    }

    private func load(_ context: ChannelHandlerContext) throws {
        let loaded = try KeptStream(
            path: self.work.files.newPath,
            total: self.work.header.total,
            isSynced: false,
            on: context.eventLoop
        )
        self.loaded = loaded
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        loaded.whenFinished.whenComplete { result in
            let (connection, context) = bound.value
            switch result {
            case .success: connection.came(1)
            case .failure(let error): connection.errorCaught(context: context, error: error)
            }
        }
    }

    func read(context: ChannelHandlerContext) {
        if self.loaded?.hasRoom ?? true { context.read() }
    }

    private func ask(_ count: Int, _ context: ChannelHandlerContext) {
        guard count > 0 else { return }
        self.messagesLeft -= count
        let bytes = self.work.header.mode == .keep ? self.work.header.messageBytes : 1
        context.writeAndFlush(NIOAny(ByteBuffer(repeating: 0x5A, count: bytes * count)), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { self.ready.succeed(()) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        switch self.work.header.mode {
        case .upload, .download, .store: self.came(bytes.readableBytes)
        case .load:
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            self.loaded?.take(bytes) { bound.value.read() }
        case .keep:
            self.came(bytes.readableBytes)
            self.ask(min(bytes.readableBytes, self.messagesLeft), context)
        case .fetch:
            self.held.writeBuffer(&bytes)
            while let message = self.held.readSlice(length: self.work.header.messageBytes) {
                self.keep(message, context)
            }
            self.held.discardReadBytes()
        }
    }

    private func keep(_ message: ByteBuffer, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        self.work.files.keep(message, on: context.eventLoop).whenComplete { result in
            let (connection, context) = bound.value
            switch result {
            case .success:
                connection.came(1)
                connection.ask(min(1, connection.messagesLeft), context)
            case .failure(let error): connection.finished.fail(error)
            }
        }
    }

    private func came(_ count: Int) {
        self.awaited -= count
        if self.awaited == 0 { self.finished.succeed(()) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.source.write(to: context)
        self.stored?.write(to: context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.ready.fail(error)
        self.finished.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.ready.fail(Run.Incomplete())
        self.finished.fail(Run.Incomplete())
        context.fireChannelInactive()
    }
}
