import NIOCore

/// Bounds the bytes of a request, before they are parsed.
///
/// They include bytes that the client sends while it waits for the response.
final class RequestBytesBound: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let refusal =
        "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    private let connections: EndpointConnections
    private var bytes = 0
    private var isResponding = false

    init(_ connections: EndpointConnections) {
        self.connections = connections
    }

    /// A response has begun: no other bytes may be written among its parts.
    func responseBegan() { self.isResponding = true }

    /// Another request may follow.
    func responseEnded() {
        self.isResponding = false
        self.bytes = 0
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.bytes += Self.unwrapInboundIn(data).readableBytes
        guard self.bytes > self.connections.bounds.requestBytesMax else {
            return context.fireChannelRead(data)
        }
        guard context.channel.isActive else { return }
        self.connections.tell("a request is larger than \(self.connections.bounds.requestBytesMax) bytes")
        if !self.isResponding {
            let refusal = context.channel.allocator.buffer(string: Self.refusal)
            context.writeAndFlush(Self.wrapOutboundOut(refusal), promise: nil)
        }
        context.close(promise: nil)
    }
}
