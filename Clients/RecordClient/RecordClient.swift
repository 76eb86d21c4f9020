package import RecordModel
package import WireProtocol

/// One connection to a server, shared by all requests, made again when it breaks.
///
/// A mutating request that was in flight when the connection broke is sent again with its request ID, so that it takes
/// effect once; a reading request is sent again too, and items that were delivered before are not delivered twice.
package final class RecordClient: Sendable {
    private let mailbox = Mailbox()

    package init(configuration: ClientConfiguration) {}

    /// The server's welcome; connects when there is no connection yet.
    package func welcome(timeout: Duration) async throws(ClientError) -> Welcome {
        throw .closed
    }

    /// Starts a request.
    ///
    /// - Parameters:
    ///   - operation: What to do.
    ///   - requestTimeout: Longest silence; starts again whenever something of the answer arrives.
    ///   - resourceTimeout: Longest time over all, attempts to connect and to send again included.
    ///   - items: Called with outcomes as they arrive, in order of arrival, each item once, never at the same time as
    ///     another call for this request.
    ///   - end: Called once, last.
    /// - Returns: A handle to cancel by. A cancelled request ends with `ClientError.cancelled`.
    @discardableResult
    package func start(
        _ operation: Operation,
        requestTimeout: Duration,
        resourceTimeout: Duration,
        items: @escaping @Sendable ([Item]) -> Void,
        end: @escaping @Sendable (Result<Void, ClientError>) -> Void
    ) -> RequestHandle {
        end(.failure(.closed))
        return RequestHandle(number: 0, mailbox: self.mailbox)
    }

    /// Starts a request and waits for all of it. Cancelling the task cancels the request.
    ///
    /// - Returns: The outcomes, by item number.
    package func perform(
        _ operation: Operation,
        timeout: Duration
    ) async throws(ClientError) -> [UInt32: ItemOutcome] {
        throw .closed
    }

    /// Ends every request with `ClientError.closed` and closes the connection.
    package func shutdown() async {}
}
