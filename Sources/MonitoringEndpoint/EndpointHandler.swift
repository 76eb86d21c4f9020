import NIOCore
import NIOHTTP1

/// Answers the requests of one connection, one after another.
///
/// swift-nio's handlers before it parse, answer malformed HTTP with 400, and hold the next request
/// back until this one is answered.
final class EndpointHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let connections: EndpointConnections
    private let bytesBound: RequestBytesBound
    private var head: HTTPRequestHead?
    private var deadline: Scheduled<Void>?
    /// Whether a request has arrived that has no response yet.
    private var isAnswering = false
    /// Closes the connection; `nil` after it has ended.
    private var close: (() -> Void)?

    init(_ connections: EndpointConnections, _ bytesBound: RequestBytesBound) {
        self.connections = connections
        self.bytesBound = bytesBound
    }

    // Not when the channel becomes active: connections that are accepted together are all here by
    // then, and any of them could be closed for another. Nor when it becomes inactive: a channel
    // that is closed before it was active does not.
    func handlerAdded(context: ChannelHandlerContext) {
        self.close = { context.close(promise: nil) }
        self.connections.opened(self)
        self.awaitRequest(context)
        context.channel.closeFuture.assumeIsolated().whenComplete { _ in
            self.deadline?.cancel()
            self.close = nil
            self.connections.closed(self)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // A page needs no body; its bytes are bounded with the others.
        case .body: break
        case .end:
            guard let head = self.head else { return }
            self.head = nil
            self.requestReceived(head, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError { self.connections.tell("it does not speak HTTP/1.1") }
        context.close(promise: nil)
    }

    /// Closes this connection to make room for another client.
    func leave() { self.close?() }

    private func requestReceived(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        self.isAnswering = true
        self.connections.requestReceived(from: self)
        self.bytesBound.responseBegan()
        self.closes(context, after: self.connections.bounds.responseTimeout)
        switch self.connections.rules.decision(on: head) {
        case .refuse(let status, let text):
            if status == .misdirectedRequest { self.connections.tell("its Host field names another machine") }
            let page = EndpointPage(.ok, text: text + "\n")
            self.respond(to: head, status, page, context)
        case .page(let path):
            self.connections.page(at: path).assumeIsolated().whenComplete { result in
                switch result {
                case .failure: context.close(promise: nil)
                case .success(let page):
                    self.respond(to: head, page.status == .ok ? .ok : .serviceUnavailable, page, context)
                }
            }
        }
    }

    private func respond(
        to request: HTTPRequestHead,
        _ status: HTTPResponseStatus,
        _ page: EndpointPage,
        _ context: ChannelHandlerContext
    ) {
        guard context.channel.isActive else { return }
        var headers = HTTPHeaders([
            ("Content-Type", page.contentType), ("Content-Length", "\(page.text.utf8.count)"),
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
        ])
        if status == .methodNotAllowed { headers.add(name: "Allow", value: "GET, HEAD") }
        if !request.isKeepAlive { headers.add(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            let body = context.channel.allocator.buffer(string: page.text)
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let taken = context.eventLoop.makePromise(of: Void.self)
        taken.futureResult.assumeIsolated().whenSuccess {
            guard request.isKeepAlive else { return context.close(promise: nil) }
            if !self.isAnswering { self.awaitRequest(context) }
        }
        // A request that arrived meanwhile is passed on within this call, before the response is
        // taken.
        self.isAnswering = false
        self.bytesBound.responseEnded()
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: taken)
    }

    private func awaitRequest(_ context: ChannelHandlerContext) {
        self.connections.awaitsRequest(from: self)
        self.closes(context, after: self.connections.bounds.requestTimeout)
    }

    private func closes(_ context: ChannelHandlerContext, after time: TimeAmount) {
        self.deadline?.cancel()
        self.deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            context.close(promise: nil)
        }
    }
}
