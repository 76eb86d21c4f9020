import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// A client that can be replaced by a new one while others use it.
final class SwitchedClient: Sendable {
    private let make: @Sendable () -> RecordClient
    private let state: Mutex<RecordClient>

    init(_ make: @escaping @Sendable () -> RecordClient) {
        self.make = make
        self.state = Mutex(make())
    }

    var current: RecordClient { self.state.withLock { $0 } }

    /// Requests in flight end with `ClientError.closed`.
    func replace() async {
        let old = self.state.withLock { client in
            let old = client
            client = self.make()
            return old
        }
        await old.shutdown()
    }

    func shutdown() async { await self.current.shutdown() }

    /// Reads, and asks again while the store is away.
    func outcomes(of operation: Operation) async throws -> [UInt32: ItemOutcome] {
        while true {
            do throws(ClientError) {
                return try await self.current.perform(operation, timeout: .seconds(60))
            } catch {
                guard error.isEndOfServer else { throw error }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

extension Error {
    /// Whether the server that had the request is gone, or the primary of its store: what was asked may have
    /// happened, and does not happen later.
    var isEndOfServer: Bool {
        switch self as? ClientError {
        case .closed?: true
        case .refused(let failure)?: failure.code == .serviceUnavailable
        default: false
        }
    }
}

extension RecordClient {
    /// Everything of one answer, in the order in which it came.
    func answer(to operation: Operation) async throws(ClientError) -> (items: [Item], end: End) {
        let received = ReceivedItems()
        let result: Result<End, ClientError> = await withCheckedContinuation { continuation in
            self.start(
                operation,
                requestTimeout: .seconds(60),
                resourceTimeout: .seconds(60),
                items: { items in received.append(items) },
                end: { continuation.resume(returning: $0) }
            )
        }
        return (received.items, try result.get())
    }
}

private final class ReceivedItems: Sendable {
    private let state = Mutex<[Item]>([])

    var items: [Item] { self.state.withLock { $0 } }

    func append(_ items: [Item]) { self.state.withLock { $0 += items } }
}
