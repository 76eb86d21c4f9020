import FileIO
import Logging
import NIOCore
import RecordModel
import WireProtocol

/// The state behind a `RecordClient`: its requests, their connection, and the time of the next
/// attempt to connect.
///
/// Lives on one event loop. Callers reach it through the `Mailbox`, so a callback that starts or
/// cancels a request never comes back in the middle of a change.
final class ClientSession {
    typealias Connect = @Sendable (any EventLoop, ClientConnectionHandler) -> EventLoopFuture<Void>

    enum Link {
        case idle
        case pausing(Scheduled<Void>)
        /// A provider was asked for a token; the number identifies the question.
        case asking(Int, timeout: Scheduled<Void>)
        case connecting(ClientConnectionHandler, timeout: Scheduled<Void>)
        case open(OpenLink)
        case shutDown
    }

    /// A class, so that looking at it for every request copies no welcome.
    final class OpenLink {
        let connection: ClientConnectionHandler
        let welcome: Welcome
        let openedAt: NIODeadline
        /// Whether `listen` was sent on it.
        var listens = false

        init(connection: ClientConnectionHandler, welcome: Welcome, openedAt: NIODeadline) {
            self.connection = connection
            self.welcome = welcome
            self.openedAt = openedAt
        }
    }

    /// A caller of `RecordClient.welcome`.
    struct WelcomeWaiter {
        let number: UInt64
        let deadline: NIODeadline
        let continuation: CheckedContinuation<Result<Welcome, ClientError>, Never>
    }

    let eventLoop: any EventLoop
    let configuration: ClientConfiguration
    let connect: Connect
    private let inbox: Inbox
    let logger = Logger(label: "tidemark.client")
    var requests = RequestTable()
    var welcomes: [WelcomeWaiter] = []
    var listener: Listener?
    /// Uploads and downloads; made with the first connection.
    private(set) lazy var transfers = Transfers(of: self, files: self.files)
    private let files: FileThreads
    var link = Link.idle
    /// Connections that finish their open requests and take no new ones, by number.
    var draining: [Int: ClientConnectionHandler] = [:]
    /// Connections that have ended, with channels that are not closed yet, by number.
    var closing: [Int: ClientConnectionHandler] = [:]
    var shutdowns: [CheckedContinuation<Void, Never>] = []
    var reconnect: Reconnect
    var random = SystemRandomNumberGenerator()
    var lastConnection = 0
    var token = ProvidedToken()
    /// Why there is no connection; `nil` if none was tried since the last one worked.
    var lastFailure: ConnectionEnd?
    /// Whether the log has the first failure to connect; also if a connection worked.
    var hasSpokenOfServer = false
    var timer: Scheduled<Void>?
    var timerDeadline: NIODeadline?

    init(
        configuration: ClientConfiguration,
        eventLoop: any EventLoop,
        inbox: Inbox,
        files: FileThreads,
        connect: @escaping Connect
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.inbox = inbox
        self.files = files
        self.connect = connect
        self.reconnect = Reconnect(
            backoffMin: TimeAmount(configuration.backoffMin),
            backoffMax: TimeAmount(configuration.backoffMax)
        )
    }

    /// Runs code that may call callers back, then takes what they have posted meanwhile.
    func attending(_ body: () -> Void) {
        self.inbox.attend()
        body()
        self.takeInbox()
    }

    /// Takes what callers have posted since the last time, and sends it in one piece.
    func takeInbox() {
        let messages = self.inbox.takeAll()
        guard !messages.isEmpty else { return }
        let now = self.eventLoop.now
        for message in messages {
            switch message {
            case .start(let number, let operation, let timeouts, let receiver):
                self.start(
                    PendingRequest(
                        number: number,
                        operation: operation,
                        timeouts: timeouts,
                        receiver: receiver,
                        now: now
                    )
                )
            case .startTransfer(let number, let transfer, let timeouts):
                self.start(self.transfers.request(number, transfer, timeouts, now: now))
            case .cancel(let number): self.cancel(number)
            case .welcome(let number, let timeout, let continuation):
                self.welcome(
                    WelcomeWaiter(number: number, deadline: now + timeout, continuation: continuation)
                )
            case .listen(let number, let notify): self.listen(number, notify)
            case .stopListening(let number): self.stopListening(number)
            case .acknowledge(let key): self.acknowledge(key)
            case .shutDown(let continuation): self.shutDown(continuation)
            }
        }
        self.advance(now: now)
        self.flush()
    }

    /// Sends what may be sent, and connects when something waits for a connection.
    func advance(now: NIODeadline) {
        self.sendWaiting(now: now)
        self.transfers.sendPieces()
        self.connectIfWanted(now: now)
    }

    /// Text for people: where this client connects to.
    var server: String { "\(self.configuration.host):\(self.configuration.port)" }

    /// Ends everything that waits.
    func endAll(_ error: ClientError) {
        for request in self.requests.removeAll() { request.end(.failure(error)) }
        let waiters = self.welcomes
        self.welcomes = []
        for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
    }

    func start(_ request: PendingRequest) {
        if case .shutDown = self.link {
            request.end(.failure(.closed))
            return
        }
        if case .download(let download) = request.transfer, download.isComplete {
            request.end(.success(End()))
            return
        }
        if case .open = self.link {} else { request.lacksConnection(since: self.eventLoop.now) }
        self.requests.add(request)
        self.wake(by: request.deadline)
    }

    private func cancel(_ number: UInt64) {
        if let request = self.requests.remove(number) {
            self.cancelStream(of: request)
            request.end(.failure(.cancelled))
        } else if let index = self.welcomes.firstIndex(where: { $0.number == number }) {
            self.welcomes.remove(at: index).continuation.resume(returning: .failure(.cancelled))
        }
    }

    private func welcome(_ waiter: WelcomeWaiter) {
        switch self.link {
        case .open(let link): waiter.continuation.resume(returning: .success(link.welcome))
        case .shutDown: waiter.continuation.resume(returning: .failure(.closed))
        case .idle, .pausing, .asking, .connecting:
            self.welcomes.append(waiter)
            self.wake(by: waiter.deadline)
        }
    }

    private func shutDown(_ continuation: CheckedContinuation<Void, Never>?) {
        if let continuation { self.shutdowns.append(continuation) }
        let link = self.link
        self.link = .shutDown
        self.endAll(.closed)
        self.listeningEnded()
        self.timer?.cancel()
        switch link {
        case .idle, .shutDown: break
        case .pausing(let attempt): attempt.cancel()
        case .asking(_, let timeout): timeout.cancel()
        case .connecting(let connection, let timeout):
            timeout.cancel()
            self.close(connection)
        case .open(let link): self.close(link.connection)
        }
        for connection in self.draining.values { self.close(connection) }
        self.resumeShutdowns()
    }

    private func close(_ connection: ClientConnectionHandler) {
        // Noted first: a channel may close within the call.
        self.closing[connection.number] = connection
        connection.close(.shutDown)
    }

    /// Resumes the callers of `shutDown` when no channel is left.
    func resumeShutdowns() {
        guard case .shutDown = self.link, self.closing.isEmpty, self.draining.isEmpty else { return }
        let waiting = self.shutdowns
        self.shutdowns = []
        for continuation in waiting { continuation.resume() }
    }
}
