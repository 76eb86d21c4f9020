import Logging
import NIOCore
import RecordStore
import Transport
import WireProtocol

// The ends of a connection: a violation, a drain, a peer that does not read, a connection that broke.
extension ConnectionHandler {
    /// Says why, in a `goaway` and one line of the log, and closes.
    ///
    /// - Parameters:
    ///   - reason: From the registry.
    ///   - detail: The field of the specification that is wrong.
    ///   - isLogged: The line was written before.
    func close(_ reason: CloseReason, detail: String = "", isLogged: Bool = false) {
        guard self.context != nil else { return }
        if !isLogged {
            self.server.logger.log(
                level: reason == .drain || reason == .idle ? .debug : .info,
                "connection closed",
                metadata: [
                    LogKeys.peer: "\(self.peerName)", LogKeys.reason: "\(reason.text)",
                    LogKeys.detail: "\(detail)",
                ]
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

    /// Closes after what was written.
    func closeQuietly() {
        guard let context else { return }
        self.flush()
        _ = self.machine.connectionEnded()
        self.context = nil
        self.forgetEverything()
        context.close(promise: nil)
    }

    /// Closes without a word: there is nobody who could read it.
    func breakOff(_ message: Logger.Message, error: (any Error)? = nil, level: Logger.Level = .info) {
        guard let context else { return }
        self.server.logger.log(
            level: level,
            message,
            metadata: [
                LogKeys.peer: "\(self.peerName)",
                LogKeys.error: "\(error.map { ConnectionFailureText.of($0) } ?? "")",
            ]
        )
        _ = self.machine.connectionEnded()
        self.context = nil
        self.forgetEverything()
        context.close(promise: nil)
    }

    /// The server stops: what is in flight is answered, nothing new is taken.
    func drain() {
        switch self.machine.drainStarted() {
        case .announce:
            let goaway = GoAway(reason: .drain, message: CloseReason.drain.text)
            self.write(Frame(kind: .goaway, payload: goaway.encoded()))
            self.endTransfers(failure: Failure(StoreError.shuttingDown))
            self.flush()
        case .announceAndClose:
            self.close(.drain)
        case .ignore:
            break
        }
    }

    /// Lets go of everything that a connection holds.
    ///
    /// Replies that still come find no answer to belong to.
    func forgetEverything() {
        self.endListening()
        self.forgetCredential()
        self.forgetTransfers()
        self.forgetUnfinishedFrame()
        self.handshakeTimer?.cancel()
        self.keepaliveTimer?.cancel()
        self.socketTimer?.cancel()
        self.creditTimer?.cancel()
        self.handshakeTimer = nil
        self.keepaliveTimer = nil
        self.socketTimer = nil
        self.creditTimer = nil
        for answer in self.answers.values { self.release(answer) }
        self.countSocket(isFull: false)
        self.answers = StreamTable()
        self.waiting = []
        self.blocked = []
        self.outbound = ByteBuffer()
    }

    // MARK: - Slow readers

    // Two times, since a socket that takes the bytes of downloads helps no answer that waits for credit.

    /// Starts to count the time in which the socket takes nothing; it goes on counting when called again.
    func startSocketTimer() {
        guard self.socketTimer == nil, let context, !context.channel.isWritable else { return }
        self.socketTimer = self.slowReaderTimer { $0.socketTimer = nil }
    }

    /// Starts to count the time in which no answer leaves though one waits; it goes on counting when called again.
    func startCreditTimer() {
        guard self.creditTimer == nil, self.context != nil else { return }
        self.creditTimer = self.slowReaderTimer { $0.creditTimer = nil }
    }

    /// Ends a connection whose answers wait for the client, because others need the room.
    func endIfBlocked() {
        guard !self.blocked.isEmpty else { return }
        self.close(.slowReader, detail: "room for others")
    }

    private func slowReaderTimer(_ forget: @escaping (ConnectionHandler) -> Void) -> Scheduled<Void> {
        let timeout = TimeAmount(self.server.configuration.timeouts.slowReader)
        return self.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            forget(self)
            self.close(.slowReader)
        }
    }

    /// The socket takes bytes again.
    func socketOpened() {
        self.socketTimer?.cancel()
        self.socketTimer = nil
    }

    /// An answer left, or a piece of it.
    func progressed() {
        self.creditTimer?.cancel()
        self.creditTimer = nil
    }

    /// Address and port of the peer, for the log.
    var peerName: String {
        guard let address = self.context?.channel.remoteAddress else { return "" }
        guard let host = address.ipAddress, let port = address.port else { return "\(address)" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
