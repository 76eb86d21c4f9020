import NIOCore
import RecordModel
import Synchronization
import WireProtocol

/// What callers on other threads ask of a client, collected until its event loop takes it.
///
/// However many threads post within one tick, the loop is woken once. Unbounded: what waits here is the callers' memory,
/// and the loop empties it each tick.
final class Mailbox: Sendable {
    enum Message: Sendable {
        case start(
            number: UInt64,
            operation: Operation,
            timeouts: Timeouts,
            receiver: PendingRequest.Receiver
        )
        case cancel(number: UInt64)
        case welcome(
            number: UInt64,
            timeout: TimeAmount,
            continuation: CheckedContinuation<Result<Welcome, ClientError>, Never>
        )
        /// The continuation is resumed when every connection is closed.
        case shutDown(CheckedContinuation<Void, Never>?)
    }

    private let eventLoop: any EventLoop
    private let session: NIOLoopBoundBox<ClientSession>
    private let messages = Mutex<[Message]>([])
    private let lastNumber = Atomic<UInt64>(0)

    init(eventLoop: any EventLoop, session: NIOLoopBoundBox<ClientSession>) {
        self.eventLoop = eventLoop
        self.session = session
    }

    /// A number that no other request of this client has.
    func nextNumber() -> UInt64 {
        self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    func post(_ message: Message) {
        let isFirst = self.messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        // Later ones are taken by the wake-up that the first one asked for.
        guard isFirst else { return }
        self.eventLoop.execute { [session = self.session, self] in
            session.value.take(self.takeAll())
        }
    }

    private func takeAll() -> [Message] {
        self.messages.withLock { messages in
            let taken = messages
            messages = []
            return taken
        }
    }
}
