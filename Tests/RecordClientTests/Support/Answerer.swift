import NIOCore
import Synchronization
import WireProtocol

/// True once at most.
final class OnceFlag: Sendable {
    private let value: Mutex<Bool>

    init(_ value: Bool) {
        self.value = Mutex(value)
    }

    func take() -> Bool {
        self.value.withLock { value in
            defer { value = false }
            return value
        }
    }
}

/// Says welcome, and answers each request with one deleted item.
final class Answerer: ChannelInboundHandler {
    typealias InboundIn = Frame
    typealias OutboundOut = ByteBuffer

    private let drops: OnceFlag

    init(drops: OnceFlag) {
        self.drops = drops
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        var answer = ByteBuffer()
        switch frame.kind {
        case .hello:
            let welcome = Welcome(
                version: 1,
                server: "loopback",
                userRecordName: "_user",
                serverTimeMilliseconds: 1_700_000_000_000,
                limits: .defaults,
                windows: .defaults
            )
            FrameEncoder.write(Frame(kind: .welcome, payload: welcome.encoded()), into: &answer)
        case .request:
            guard !self.drops.take() else {
                context.close(promise: nil)
                return
            }
            let items = Items(items: .deleted(0)).encoded()
            FrameEncoder.write(Frame(kind: .items, stream: frame.stream, payload: items), into: &answer)
            FrameEncoder.write(Frame(kind: .end, stream: frame.stream), into: &answer)
            let credit = Credit(bytes: UInt32(frame.payload.readableBytes)).encoded()
            FrameEncoder.write(Frame(kind: .credit, payload: credit), into: &answer)
        default: return
        }
        context.writeAndFlush(self.wrapOutboundOut(answer), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
