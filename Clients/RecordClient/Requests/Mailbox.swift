import NIOCore
import RecordModel
import Synchronization
import WireProtocol

/// Requests of other threads to a client, collected until its event loop takes them.
///
/// However many threads post within one tick, the loop is woken once. The mailbox is unbounded: it
/// takes the callers' memory, and the loop empties it on each tick.
final class Mailbox: Sendable {
    /// An upload or a download, and the callback for its end.
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
        case listen(number: UInt64, notify: @Sendable (ListeningEvent) -> Void)
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

    /// Returns a number that no other request of this client has.
    func nextNumber() -> UInt64 {
        self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
        self.eventLoop.scheduleTask(in: TimeAmount(time), body)
    }

    func post(_ message: Message) {
        // Later messages are taken by the wake-up that the first one asked for.
        guard self.inbox.add(message) else { return }
        self.eventLoop.execute { [session = self.session] in session.value.takeInbox() }
    }
}
