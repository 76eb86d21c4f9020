import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Serves until it is killed; prints its port.
struct Serve: AsyncParsableCommand {
    @Option(help: "File with the certificate.") var certificate: String
    @Option(help: "File with its key.") var key: String
    @Option(help: "Where files go.") var folder: String
    @Option(help: "What is loaded.") var file = ""

    func run() async throws {
        let certificates = try NIOSSLCertificate.fromPEMFile(self.certificate)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: self.key, format: .pem))
        )
        tls.minimumTLSVersion = .tlsv13
        let context = try NIOSSLContext(configuration: tls)
        let files = KeptFiles(folder: self.folder, isSynced: true)
        let file = self.file
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(
                .writeBufferWaterMark,
                value: ChannelOptions.Types.WriteBufferWaterMark(low: 64 * 1_024, high: 256 * 1_024)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context),
                        ServedConnection(files: files, file: file)
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        // Without a buffer: whoever has started us waits for it.
        FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
        try await channel.closeFuture.get()
    }
}

private final class ServedConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let files: KeptFiles
    private let file: String
    private var stored: KeptStream?
    private var loaded: FileSource?
    private var header: Header?
    private var held = ByteBuffer()
    private var source = Source(0)
    private var received = 0

    init(files: KeptFiles, file: String) {
        self.files = files
        self.file = file
    }

    func read(context: ChannelHandlerContext) {
        if self.stored?.hasRoom ?? true { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        if self.header == nil {
            self.held.writeBuffer(&bytes)
            guard let header = Header(from: &self.held) else { return }
            self.header = header
            bytes = self.held
            self.held = ByteBuffer()
            do {
                try self.begin(header, context)
            } catch {
                return context.close(promise: nil)
            }
        }
        guard let header else { return }
        switch header.mode {
        case .download, .load: break
        case .store:
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            self.stored?.take(bytes) { bound.value.read() }
        case .upload:
            self.received += bytes.readableBytes
            guard self.received == header.total else { return }
            context.writeAndFlush(NIOAny(ByteBuffer(integer: UInt8(1))), promise: nil)
        case .keep:
            self.held.writeBuffer(&bytes)
            while let message = self.held.readSlice(length: header.messageBytes) {
                self.keep(message, context)
            }
            self.held.discardReadBytes()
        case .fetch:
            let messages = ByteBuffer(repeating: 0x5A, count: header.messageBytes * bytes.readableBytes)
            context.writeAndFlush(NIOAny(messages), promise: nil)
        }
    }

    private func begin(_ header: Header, _ context: ChannelHandlerContext) throws {
        switch header.mode {
        case .upload, .keep, .fetch: break
        case .download:
            self.source = Source(header.total)
            self.source.write(to: context)
        case .load:
            self.loaded = try FileSource(path: self.file, total: header.total)
            self.loaded?.write(to: context)
        case .store:
            let stored = try KeptStream(
                path: self.files.newPath,
                total: header.total,
                isSynced: true,
                on: context.eventLoop
            )
            self.stored = stored
            self.answer(stored.whenFinished, context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.source.write(to: context)
        self.loaded?.write(to: context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func keep(_ message: ByteBuffer, _ context: ChannelHandlerContext) {
        self.answer(self.files.keep(message, on: context.eventLoop), context)
    }

    private func answer(_ kept: EventLoopFuture<Void>, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        kept.whenComplete { result in
            switch result {
            case .success:
                bound.value.writeAndFlush(NIOAny(ByteBuffer(integer: UInt8(1))), promise: nil)
            case .failure: bound.value.close(promise: nil)
            }
        }
    }
}
