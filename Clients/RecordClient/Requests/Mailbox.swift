import NIOCore
import RecordModel
import Synchronization
import WireProtocol

/// What callers on other threads ask of a client, collected until its event loop takes it.
///
/// However many threads post within one tick, the loop is woken once. Unbounded: what waits here is the callers' memory,
/// and the loop empties it each tick.
final class Mailbox: Sendable {
    /// An upload or a download, and whom to tell of its end.
    struct Transfer: Sendable {
        enum Bytes: Sendable {
            case upload(AssetUpload)
            case download(AssetDownload)
        }

        var bytes: Bytes
        var end: @Sendable (Result<End, ClientError>) -> Void
    }

    enum Message: Sendable {
        case start(
            number: UInt64,
            operation: Operation,
            timeouts: Timeouts,
            receiver: PendingRequest.Receiver
        )
        case startTransfer(number: UInt64, Transfer, timeouts: Timeouts)
        case cancel(number: UInt64)
        case welcome(
            number: UInt64,
            timeout: TimeAmount,
            continuation: CheckedContinuation<Result<Welcome, ClientError>, Never>
        )
        case listen(number: UInt64, told: @Sendable (ListeningEvent) -> Void)
        case stopListening(number: UInt64)
        case acknowledge(NotificationKey)
        /// The continuation is resumed when every connection is closed.
        case shutDown(CheckedContinuation<Void, Never>?)
    }

    private let eventLoop: any EventLoop
    private let session: NIOLoopBoundBox<ClientSession>
    private let inbox: Inbox
    private let lastNumber = Atomic<UInt64>(0)

    init(eventLoop: any EventLoop, session: NIOLoopBoundBox<ClientSession>, inbox: Inbox) {
        self.eventLoop = eventLoop
        self.session = session
        self.inbox = inbox
    }

    /// A number that no other request of this client has.
    func nextNumber() -> UInt64 {
        self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    func post(_ message: Message) {
        // Later ones are taken by the wake-up that the first one asked for.
        guard self.inbox.add(message) else { return }
        self.eventLoop.execute { [session = self.session] in session.value.takeInbox() }
    }
}
