import FileIO
import NIOCore
package import RecordModel
package import WireProtocol

/// One connection to a server, shared by all requests, made again when it breaks.
///
/// A mutating request that was in flight when the connection broke is sent again with its request ID, so that it takes
/// effect once; a reading request is sent again too, and items that were delivered before are not delivered twice.
///
/// Connects when the first request is started, and keeps the connection. A client that is let go ends its requests and
/// closes it.
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

    /// Makes a client whose channels come from `connect`, on the loop and with the handler at their ends.
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
    /// Both callbacks are called on the connection's event loop and must be quick: no other request moves on meanwhile.
    ///
    /// - Parameters:
    ///   - operation: What to do.
    ///   - requestTimeout: Longest silence; starts again whenever something of the answer arrives.
    ///   - resourceTimeout: Longest time over all, attempts to connect and to send again included.
    ///   - connectionTimeout: Longest time without a connection before the request is first sent; `nil`: as the longest silence. A request
    ///     that was sent is sent again for as long as the other two allow.
    ///   - items: Called with outcomes as they arrive, in order of arrival, each item once, never at the same time as
    ///     another call for this request. A list of all zones and a page come when they are whole, a call for each frame.
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

    /// Starts a request without items and waits for what the server says at its end.
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

    /// Listens to notifications, for as long as it takes: connects again whenever the connection ends.
    ///
    /// Only one may listen at a time, until `stop`. A server that refuses this client is asked again, after pauses that double.
    ///
    /// - Parameter told: Called on the connection's event loop, one event at a time, in order; must be quick.
    /// - Returns: What to acknowledge with, and to stop.
    package func listen(_ told: @escaping @Sendable (ListeningEvent) -> Void) -> ListenerHandle {
        let number = self.mailbox.nextNumber()
        self.mailbox.post(.listen(number: number, told: told))
        return ListenerHandle(
            acknowledge: { [mailbox] in mailbox.post(.acknowledge($0)) },
            stop: { [mailbox] in mailbox.post(.stopListening(number: number)) }
        )
    }

    /// Ends every request with `ClientError.closed` and closes the connection.
    ///
    /// Requests that are started later end so too.
    package func shutdown() async {
        await withCheckedContinuation { continuation in
            self.mailbox.post(.shutDown(continuation))
        }
    }

    /// A task that was cancelled before it posted its request has posted the cancellation first, where it meant nothing.
    func cancelIfTaskIsCancelled(_ number: UInt64) {
        guard Task.isCancelled else { return }
        self.mailbox.post(.cancel(number: number))
    }
}
