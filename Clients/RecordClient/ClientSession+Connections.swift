import Logging
import NIOCore
import RecordModel
import WireProtocol

/// Making connections, and what their ends mean for the requests.
extension ClientSession {
    func connectIfWanted(now: NIODeadline) {
        guard case .idle = self.link, self.wantsConnection else { return }
        let attemptAt = self.reconnect.attemptAt(now: now)
        guard attemptAt > now else { return self.makeConnection() }
        self.link = .pausing(
            self.eventLoop.assumeIsolated().scheduleTask(deadline: attemptAt) { self.pauseEnded() }
        )
    }

    private func pauseEnded() {
        guard case .pausing = self.link else { return }
        self.link = .idle
        // Those who waited may have given up.
        guard self.wantsConnection else { return }
        self.makeConnection()
    }

    private var wantsConnection: Bool {
        self.requests.hasWaiting || !self.welcomes.isEmpty || self.listener != nil
    }

    /// Connects, when there is something to connect with.
    func makeConnection() {
        if case .provided(let provider) = self.configuration.credential, self.token.text == nil {
            return self.askForToken(provider)
        }
        self.lastConnection += 1
        let connection = ClientConnectionHandler(
            number: self.lastConnection,
            hello: self.hello,
            key: self.serviceKey,
            session: self
        )
        let timeout = self.eventLoop.assumeIsolated().scheduleTask(
            in: TimeAmount(self.configuration.connectTimeout)
        ) {
            connection.close(.broken("no answer within \(self.configuration.connectTimeout)"))
        }
        self.link = .connecting(connection, timeout: timeout)
        self.connect(self.eventLoop, connection).assumeIsolated().whenFailure { error in
            connection.close(ConnectionEnd(error))
            connection.channelClosed()
        }
    }

    /// The server said welcome.
    func connectionOpened(_ connection: ClientConnectionHandler, welcome: Welcome) {
        guard case .connecting(let current, let timeout) = self.link, current === connection else { return }
        timeout.cancel()
        self.lastFailure = nil
        self.hasSpokenOfServer = true
        self.token.isAccepted = true
        self.link = .open(
            OpenLink(connection: connection, welcome: welcome, openedAt: self.eventLoop.now)
        )
        self.logger.debug("connected", metadata: ["server": "\(self.server)"])
        self.requests.haveConnection()
        let waiters = self.welcomes
        self.welcomes = []
        for waiter in waiters { waiter.continuation.resume(returning: .success(welcome)) }
        self.askToListen()
    }

    /// The connection finishes open requests; new requests go to another one.
    func connectionDrains(_ connection: ClientConnectionHandler, goAway: GoAway) {
        guard self.isCurrent(connection) else { return }
        self.draining[connection.number] = connection
        self.linkEnded(connection, cause: .goneAway(goAway))
    }

    /// The connection takes no part any more; its channel is about to close.
    func connectionEnded(_ connection: ClientConnectionHandler, cause: ConnectionEnd) {
        self.closing[connection.number] = connection
        self.draining[connection.number] = nil
        self.requests.connectionEnded(connection.number)
        if self.isCurrent(connection) { self.linkEnded(connection, cause: cause) }
        if let error = self.terminalError(of: cause) { self.endAll(error) }
        if cause.isRefusedToken { self.token = ProvidedToken() }
        self.advance(now: self.eventLoop.now)
    }

    func connectionClosed(_ connection: ClientConnectionHandler) {
        self.closing[connection.number] = nil
        self.resumeShutdowns()
    }

    private func linkEnded(_ connection: ClientConnectionHandler, cause: ConnectionEnd) {
        let now = self.eventLoop.now
        var wasOpen = false
        var hadWorked = connection.hasAnswered || connection.isRetired
        switch self.link {
        case .idle, .pausing, .asking, .shutDown: break
        case .connecting(_, let timeout): timeout.cancel()
        case .open(let link):
            wasOpen = true
            // It may have had no requests, and no notifications.
            hadWorked = hadWorked || now - link.openedAt >= TimeAmount(self.configuration.backoffMax)
        }
        self.link = .idle
        self.lastFailure = cause
        self.requests.lackConnection(since: now)
        if let deadline = self.requests.nextDeadline { self.wake(by: deadline) }
        self.reconnect.ended(
            hadAnswered: hadWorked && cause.isOrderly,
            retryAfter: cause.retryAfter,
            now: now,
            using: &self.random
        )
        self.listeningInterrupted(cause, wasOpen: wasOpen, now: now)
        self.warnOfFirstFailure(cause)
        self.logger.debug(
            "connection ended",
            metadata: ["server": "\(self.server)", "reason": "\(cause.description)"]
        )
    }

    /// Says once that a new program's server does not respond: its first request waits for one, silently.
    private func warnOfFirstFailure(_ cause: ConnectionEnd) {
        guard !self.hasSpokenOfServer, self.requests.hasWaiting || !self.welcomes.isEmpty,
            self.terminalError(of: cause) == nil
        else { return }
        self.hasSpokenOfServer = true
        self.logger.warning(
            "the server does not respond, and is tried again",
            metadata: ["server": "\(self.server)", "reason": "\(cause.description)"]
        )
    }

    private func isCurrent(_ connection: ClientConnectionHandler) -> Bool {
        switch self.link {
        case .idle, .pausing, .asking, .shutDown: false
        case .connecting(let current, _): current === connection
        case .open(let link): link.connection === connection
        }
    }
}

extension ConnectionEnd {
    /// How long the server wishes to be left alone.
    fileprivate var retryAfter: TimeAmount {
        if case .goneAway(let goAway) = self {
            .milliseconds(Int64(min(goAway.retryAfterMilliseconds, ClientBounds.retryAfterMillisecondsMax)))
        } else {
            .zero
        }
    }
}
