import Foundation
import NIOCore
import NIOHTTP1
import RecordModel
import RecordServer
import WireProtocol

/// The requests of one connection, one after another.
///
/// swift-nio's handlers before it parse, and hold the next request back until this one is answered.
/// `WebConnectionStateMachine` decides; this does what it says.
final class WebConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// A request on its way.
    private struct Exchange {
        let head: HTTPRequestHead
        let uuid = UUID().uuidString
        /// The verdict on the head.
        let call: Result<WebCall, WebFailure>
        var body: ByteBuffer
    }

    private static let overloaded = WebFailure(
        .throttled,
        "the server has too much to do: nothing happened, retry after 1 s",
        retryAfterSeconds: 1
    )

    private let door: DoorConnection
    private let bounds: WebBounds
    private var machine = WebConnectionStateMachine.awaitingHead
    private var exchange: Exchange?
    private var timer: Scheduled<Void>?
    /// `nil` after the connection has ended.
    private var context: ChannelHandlerContext?

    init(_ door: DoorConnection, bounds: WebBounds) {
        self.door = door
        self.bounds = bounds
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.closes(after: self.bounds.headTimeout)
        context.channel.closeFuture.assumeIsolated().whenComplete { _ in self.ended() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.ended() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): self.received(head)
        case .body(let bytes): self.received(bytes)
        case .end: if self.machine.endReceived() { self.execute() }
        }
    }

    /// The parser ends the connection after an error, so a response to one is written in this call.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError {
            let isTooLong = (error as? HTTPParserError) == .headerOverflow
            let failure =
                isTooLong
                ? WebFailure(
                    .badRequest,
                    "the head of a request has at most \(self.bounds.headBytesMax) bytes and "
                        + "\(self.bounds.fieldsMax) fields",
                    status: .requestHeaderFieldsTooLarge
                ) : WebFailure(.badRequest, "the request is not HTTP/1.1")
            self.respond(.failure(failure))
        }
        context.close(promise: nil)
    }

    private func ended() {
        self.timer?.cancel()
        self.machine.ended()
        self.exchange = nil
        self.context = nil
    }

    private func closes(after time: TimeAmount) {
        self.timer?.cancel()
        self.timer = self.context?.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.context?.close(promise: nil)
        }
    }

    // MARK: Receiving

    private func received(_ head: HTTPRequestHead) {
        let call: Result<WebCall, WebFailure>
        do throws(WebFailure) {
            call = .success(try WebCall(head, nowMilliseconds: self.door.clock()))
        } catch {
            call = .failure(error)
        }
        let hasCredential = (try? call.get())?.credential.isPresent ?? false
        let bytesMax = hasCredential ? self.bounds.bodyBytesMax : self.bounds.strangerBodyBytesMax
        guard self.machine.headReceived(bytesMax: bytesMax) else { return }
        self.exchange = Exchange(head: head, call: call, body: ByteBuffer())
        self.closes(after: self.bounds.bodyTimeout)
        guard !self.door.isRefused else { return self.respond(.failure(Self.overloaded)) }
        let length = head.headers.first(name: "Content-Length").flatMap { Int($0) }
        guard length ?? 0 <= bytesMax else { return self.refuseBody() }
        let hasBody = length.map { $0 > 0 } ?? head.headers.contains(name: "Transfer-Encoding")
        // A body that would be read for nothing is not waited for.
        if hasBody, case .failure(let failure) = call { return self.respond(.failure(failure)) }
        if hasBody,
            head.headers[canonicalForm: "Expect"].contains(where: { $0.lowercased() == "100-continue" })
        {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            self.context?.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
        }
    }

    private func received(_ bytes: ByteBuffer) {
        switch self.machine.bodyReceived(bytes.readableBytes) {
        case .ignore: break
        case .refuse: self.refuseBody()
        case .append:
            guard var exchange = self.exchange.take() else { return }
            exchange.body.writeImmutableBuffer(bytes)
            let count = exchange.body.readableBytes
            self.exchange = exchange
            if !self.door.holdRequest(bytes: count) { self.respond(.failure(Self.overloaded)) }
        }
    }

    private func refuseBody() {
        let (most, least) = (self.bounds.bodyBytesMax, self.bounds.strangerBodyBytesMax)
        self.respond(
            .failure(
                WebFailure(
                    .badRequest,
                    "a body has at most \(most) bytes, and \(least) without a credential",
                    status: .payloadTooLarge
                )
            )
        )
    }

    // MARK: Executing

    private func execute() {
        guard let exchange, let context else { return }
        self.timer?.cancel()
        let call: WebCall
        do throws(WebFailure) {
            call = try exchange.call.get()
        } catch {
            return self.refused(error, isLate: error.code == .authenticationFailed)
        }
        let body = Array(exchange.body.readableBytesView)
        let clock = self.door.clock
        let back = LoopCall(self, context.eventLoop)
        // The body is hashed and read where the credential is looked up: both take longer than a loop
        // may.
        let isAdmitted = self.door.admit(call.claim(body: body), bytes: body.count) { result in
            do throws(WebFailure) {
                let visitor = try result.mapError { WebFailure($0) }.get()
                do throws(WebFailure) {
                    let request = try call.request(body, by: visitor, nowMilliseconds: clock())
                    let task = try request.task()
                    back { $0.begin(task, of: request, bytes: body.count) }
                } catch {
                    let failure = error
                    back { $0.respond(.failure(failure)) }
                }
            } catch {
                let failure = error
                back { $0.refused(failure, isLate: failure.status.code < 500) }
            }
        }
        if !isAdmitted { self.respond(.failure(Self.overloaded)) }
    }

    /// The sender of a request is not let in: too many of an address are told so late.
    private func refused(_ failure: WebFailure, isLate: Bool) {
        let pause = isLate ? self.door.pauseAfterRefusal() : .zero
        guard let context, pause > .zero else { return self.respond(.failure(failure)) }
        context.eventLoop.assumeIsolated().scheduleTask(in: pause) { self.respond(.failure(failure)) }
    }

    private func begin(_ task: any WebTask, of request: WebRequest, bytes: Int) {
        guard self.context != nil else { return }
        guard self.door.belongs(to: request.visitor) else {
            return self.respond(.failure(Self.overloaded))
        }
        self.goOn(task, of: request, bytes: bytes)
    }

    /// Does what a task wants next.
    private func goOn(_ task: any WebTask, of request: WebRequest, bytes: Int) {
        guard let context else { return }
        var task = task
        switch task.next() {
        case .respond(let body): self.respond(.success(body))
        case .fail(let failure): self.respond(.failure(failure))
        case .perform(let operation, let items):
            let (waiting, back) = (task, LoopCall(self, context.eventLoop))
            self.door.perform(
                operation,
                requestID: operation.isMutating ? request.requestID : nil,
                by: request.visitor,
                bytes: bytes,
                into: items
            ) { outcomes in
                back { connection in
                    var task = waiting
                    task.replied(outcomes, items)
                    connection.goOn(task, of: request, bytes: bytes)
                }
            }
        }
    }

    // MARK: Responding

    private func respond(_ result: Result<[UInt8], WebFailure>) {
        guard let context else { return }
        let isAlive = self.exchange?.head.isKeepAlive ?? false
        let (writes, keepsAlive) = self.machine.responseReady(keepsAlive: isAlive)
        guard writes else { return }
        let response = WebResponse(
            self.fitting(result),
            uuid: self.exchange?.uuid ?? UUID().uuidString
        )
        let isWithoutBody = self.exchange?.head.method == .HEAD
        self.exchange = nil
        self.door.holdRequest(bytes: 0)
        var headers = response.headers
        if !keepsAlive { headers.add(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: response.status, headers: headers)
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        self.write(isWithoutBody ? ByteBuffer() : ByteBuffer(bytes: response.body))
    }

    private func fitting(_ result: Result<[UInt8], WebFailure>) -> Result<[UInt8], WebFailure> {
        guard case .success(let body) = result, body.count > self.bounds.responseBytesMax else {
            return result
        }
        return .failure(
            WebFailure(
                .badRequest,
                "the response takes \(body.count) bytes, more than it may: ask for fewer records or fields"
            )
        )
    }

    /// Writes the rest of a body, a slice after another.
    ///
    /// The end comes after the socket has taken all: with the end the next request is let in.
    private func write(_ rest: ByteBuffer) {
        guard let context else { return }
        var rest = rest
        self.door.holdResponse(bytes: rest.readableBytes)
        self.closes(after: self.door.slowReaderTimeout)
        let count = min(self.bounds.sliceBytes, rest.readableBytes)
        let slice = rest.readSlice(length: count) ?? ByteBuffer()
        let taken = context.eventLoop.makePromise(of: Void.self)
        let left = rest
        taken.futureResult.assumeIsolated().whenSuccess {
            if left.readableBytes > 0 { self.write(left) } else { self.responseTaken() }
        }
        context.writeAndFlush(Self.wrapOutboundOut(.body(.byteBuffer(slice))), promise: taken)
    }

    private func responseTaken() {
        guard let context else { return }
        self.door.holdResponse(bytes: 0)
        switch self.machine.responseTaken() {
        case .ignore: break
        case .awaitRequest:
            self.closes(after: self.bounds.headTimeout)
            // A request that arrived meanwhile is passed on within this call.
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        case .discard:
            self.closes(after: self.bounds.discardTimeout)
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        case .close:
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { _ in
                self.context?.close(promise: nil)
            }
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: written)
        }
    }
}

/// Calls a connection on its event loop, from any thread.
private struct LoopCall: Sendable {
    private let connection: NIOLoopBound<WebConnection>
    private let eventLoop: any EventLoop

    init(_ connection: WebConnection, _ eventLoop: any EventLoop) {
        self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
        self.eventLoop = eventLoop
    }

    func callAsFunction(_ body: @escaping @Sendable (WebConnection) -> Void) {
        self.eventLoop.execute { body(self.connection.value) }
    }
}
