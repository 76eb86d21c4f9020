import Logging
import NIOCore

/// State that all connections of the endpoint share, on its one event loop.
final class EndpointConnections {
    let rules: EndpointRules
    let bounds: EndpointBounds
    private let pages: [String: @Sendable () async -> EndpointPage]
    private let eventLoop: any EventLoop
    private let logger: Logger
    private var open: [EndpointHandler] = []
    /// The connections without a request, those that wait longest first.
    private var waiting: [EndpointHandler] = []
    /// Pages that are being made, by path: concurrent requests get the same one.
    private var pagesUnderway: [String: EventLoopFuture<EndpointPage>] = [:]
    private var nextLine: NIODeadline?

    init(
        pages: [String: @Sendable () async -> EndpointPage],
        rules: EndpointRules,
        bounds: EndpointBounds,
        eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.pages = pages
        self.rules = rules
        self.bounds = bounds
        self.eventLoop = eventLoop
        self.logger = logger
    }

    /// Whether there is room for another connection; closes the one that has waited longest if
    /// there is none.
    ///
    /// `false` if the maximum is reached and every connection has a request. So silent clients do
    /// not block others.
    func makesRoom() -> Bool {
        guard self.open.count >= self.bounds.connectionsMax else { return true }
        guard let silent = self.waiting.first else { return false }
        self.closed(silent)
        silent.leave()
        return true
    }

    func opened(_ connection: EndpointHandler) { self.open.append(connection) }

    func closed(_ connection: EndpointHandler) {
        self.open.removeAll { $0 === connection }
        self.requestReceived(from: connection)
    }

    func awaitsRequest(from connection: EndpointHandler) { self.waiting.append(connection) }

    func requestReceived(from connection: EndpointHandler) { self.waiting.removeAll { $0 === connection } }

    func page(at path: String) -> EventLoopFuture<EndpointPage> {
        if let underway = self.pagesUnderway[path] { return underway }
        guard let make = self.pages[path] else { preconditionFailure("a path that the rules do not have") }
        let page = self.eventLoop.makeFutureWithTask { await make() }
        self.pagesUnderway[path] = page
        page.assumeIsolated().whenComplete { _ in self.pagesUnderway[path] = nil }
        return page
    }

    /// Logs that a client was refused, at most once per interval.
    func tell(_ reason: String) {
        let now = NIODeadline.now()
        guard self.nextLine.map({ now >= $0 }) ?? true else { return }
        self.nextLine = now + self.bounds.lineInterval
        self.logger.info("a client of metrics_listen was turned away", metadata: ["reason": "\(reason)"])
    }
}
