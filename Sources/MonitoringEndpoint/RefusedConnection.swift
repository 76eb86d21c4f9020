import NIOCore

/// Refuses a client because there are too many others, and closes.
final class RefusedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    // Not 503, which means that the server is unhealthy.
    private static let refusal =
        "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    func channelActive(context: ChannelHandlerContext) {
        let refusal = context.channel.allocator.buffer(string: Self.refusal)
        context.writeAndFlush(Self.wrapOutboundOut(refusal), promise: nil)
        context.close(promise: nil)
    }
}
