import FileIO
import NIOCore
package import RecordModel
package import WireProtocol

/// One connection to a server, shared by all requests, made again when it breaks.
///
/// If the connection breaks, requests in flight are sent again. A mutating request has the same
/// request ID, so it takes effect once. A reading request does not deliver items again that it has
/// delivered.
///
/// The client connects when the first request starts, and keeps the connection. Releasing the
/// client ends its requests and closes the connection.
package final class RecordClient: Sendable {
    let mailbox: Mailbox

    /// Makes a client that runs, and calls back, on one of the threads.
    package convenience init(configuration: ClientConfiguration, threads: ClientThreads = .shared) {
        let connector = TLSConnector(configuration)
        self.init(
            configuration: configuration,
            eventLoop: threads.next(),
            connect: { connector.connect(on: $0, handler: $1) }
        )
    }

    /// Makes a client with channels from `connect`, on the loop and with the handler that it
    /// gets.
    init(
        configuration: ClientConfiguration,
        eventLoop: any EventLoop,
        files: FileThreads = .transfers,
        connect: @escaping ClientSession.Connect
    ) {
        let inbox = Inbox()
        let session = ClientSession(
            configuration: configuration,
            eventLoop: eventLoop,
            inbox: inbox,
            files: files,
            connect: connect
        )
        self.mailbox = Mailbox(
            eventLoop: eventLoop,
            session: .makeBoxSendingValue(session, as: ClientSession.self, eventLoop: eventLoop),
            inbox: inbox
        )
    }

    deinit {
        self.mailbox.post(.shutDown(nil))
    }

    /// The server's welcome; connects when there is no connection yet.
    ///
    /// Cancelling the task ends the wait.
    package func welcome(timeout: Duration) async throws(ClientError) -> Welcome {
        let number = self.mailbox.nextNumber()
        let timeouts = Timeouts(request: timeout, resource: timeout)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.mailbox.post(
                    .welcome(number: number, timeout: timeouts.resource, continuation: continuation)
                )
                self.cancelIfTaskIsCancelled(number)
            }
        } onCancel: {
            self.mailbox.post(.cancel(number: number))
        }
        return try result.get()
    }

    /// Starts a request.
    ///
    /// Both callbacks are called on the connection's event loop. They must be quick, because no
    /// other request moves on meanwhile.
    ///
    /// - Parameters:
    ///   - operation: What to do.
    ///   - requestTimeout: Longest silence; starts again whenever a part of the response arrives.
    ///   - resourceTimeout: Longest time in total, with all attempts to connect and to send.
    ///   - connectionTimeout: Longest time without a connection before the request is first sent;
    ///     `nil` if it is the longest silence. A request that was sent is sent again as long as
    ///     the other two allow.
    ///   - items: Called with outcomes in the order of arrival, each item once, never in parallel
    ///     with another call for this request. A list of all zones and a page arrive whole, with
    ///     one call for each frame.
    ///   - end: Called once, last; with what the server said at the end, which is no failure.
    /// - Returns: A handle to cancel by. A cancelled request ends with `ClientError.cancelled`.
    @discardableResult
    package func start(
        _ operation: Operation,
        requestTimeout: Duration,
        resourceTimeout: Duration,
        connectionTimeout: Duration? = nil,
        items: @escaping @Sendable ([Item]) -> Void,
        end: @escaping @Sendable (Result<End, ClientError>) -> Void
    ) -> RequestHandle {
        let number = self.mailbox.nextNumber()
        self.mailbox.post(
            .start(
                number: number,
                operation: operation,
                timeouts: Timeouts(
                    request: requestTimeout,
                    resource: resourceTimeout,
                    connection: connectionTimeout
                ),
                receiver: .callbacks(items: items, end: end)
            )
        )
        return RequestHandle(number: number, mailbox: self.mailbox)
    }

    /// Starts a request and waits for all of it.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Returns: The outcomes, by item number.
    package func perform(
        _ operation: Operation,
        timeout: Duration
    ) async throws(ClientError) -> [UInt32: ItemOutcome] {
        let number = self.mailbox.nextNumber()
        let timeouts = Timeouts(request: timeout, resource: timeout)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.mailbox.post(
                    .start(
                        number: number,
                        operation: operation,
                        timeouts: timeouts,
                        receiver: .continuation(continuation)
                    )
                )
                self.cancelIfTaskIsCancelled(number)
            }
        } onCancel: {
            self.mailbox.post(.cancel(number: number))
        }
        return try result.get()
    }

    /// Starts a request without items, and waits for its end.
    ///
    /// Cancelling the task cancels the request.
    package func end(of operation: Operation, timeout: Duration) async throws(ClientError) -> End {
        let number = self.mailbox.nextNumber()
        let timeouts = Timeouts(request: timeout, resource: timeout)
        let result: Result<End, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.mailbox.post(
                    .start(
                        number: number,
                        operation: operation,
                        timeouts: timeouts,
                        receiver: .callbacks(items: { _ in }, end: { continuation.resume(returning: $0) })
                    )
                )
                self.cancelIfTaskIsCancelled(number)
            }
        } onCancel: {
            self.mailbox.post(.cancel(number: number))
        }
        return try result.get()
    }

    /// Listens to notifications, and connects again whenever the connection ends.
    ///
    /// A client has one listener at a time, until `stop`. If the server refuses it, it asks again
    /// after a backoff.
    ///
    /// - Parameter notify: Called on the connection's event loop, one event at a time, in order;
    ///   must be quick.
    /// - Returns: A handle to acknowledge notifications and to stop.
    package func listen(_ notify: @escaping @Sendable (ListeningEvent) -> Void) -> ListenerHandle {
        let number = self.mailbox.nextNumber()
        self.mailbox.post(.listen(number: number, notify: notify))
        return ListenerHandle(
            acknowledge: { [mailbox] in mailbox.post(.acknowledge($0)) },
            stop: { [mailbox] in mailbox.post(.stopListening(number: number)) }
        )
    }

    /// Ends every request with `ClientError.closed` and closes the connection.
    ///
    /// Requests that are started later end in the same way.
    package func shutdown() async {
        await withCheckedContinuation { continuation in
            self.mailbox.post(.shutDown(continuation))
        }
    }

    /// Calls back on the connection's event loop after a time, even if the client was released.
    package func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
        self.mailbox.after(time, body)
    }

    /// Cancels a request of a task that was cancelled before the request was posted.
    ///
    /// The cancellation was posted first then, and had nothing to cancel.
    func cancelIfTaskIsCancelled(_ number: UInt64) {
        guard Task.isCancelled else { return }
        self.mailbox.post(.cancel(number: number))
    }
}
