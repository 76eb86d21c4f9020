import RecordStore
import Transport
import WireProtocol

/// Decides which notifications a connection gets, and handles its acknowledgements.
///
///     deaf ---listen---> starting ---began---> listening
///       ^                   |
///       +------ failed -----+
///
/// An invalid acknowledgement yields `.close(reason)`. A notification for a connection that does
/// not listen is a race with the end, and yields `.ignore`. A start without a request is a bug of
/// ours, and stops the process.
enum ListenerStateMachine: ~Copyable {
    /// Exits: `listenRequested`.
    case deaf
    /// The store is being asked; `streams` are answered when it has replied. Exits: `began`,
    /// `failed`.
    case starting(streams: [UInt32])
    /// Until the end of the connection.
    case listening(NotificationWindow)

    enum OnListen: Equatable {
        case start
        /// The response is sent with that of the previous request.
        case wait
        case answer
    }

    enum OnNotification: Equatable {
        case send(number: UInt64)
        /// Keep it; `isCoalesced`: it replaces one of the same subscription.
        case keep(isCoalesced: Bool)
        case ignore
    }

    enum OnAcknowledgement: Equatable, FrameAction {
        case acknowledge([Acknowledgement])
        /// Everything was acknowledged before, or the connection has ended.
        case ignore
        case close(CloseReason)
    }

    init() {
        self = .deaf
    }
}

extension ListenerStateMachine {
    mutating func listenRequested(on stream: UInt32) -> OnListen {
        switch consume self {
        case .deaf:
            self = .starting(streams: [stream])
            return .start
        case .starting(let streams):
            self = .starting(streams: streams + [stream])
            return .wait
        case .listening(let window):
            self = .listening(window)
            return .answer
        }
    }

    /// The store watches for this listener.
    ///
    /// - Returns: The streams to answer now.
    mutating func began() -> [UInt32] {
        switch consume self {
        case .starting(let streams):
            self = .listening(NotificationWindow())
            return streams
        case .deaf:
            preconditionFailure("nobody asked to listen")
        case .listening:
            preconditionFailure("listening began twice")
        }
    }

    /// The store could not be asked.
    ///
    /// - Returns: The streams to fail now.
    mutating func failed() -> [UInt32] {
        switch consume self {
        case .starting(let streams):
            self = .deaf
            return streams
        case .deaf:
            preconditionFailure("nobody asked to listen")
        case .listening:
            preconditionFailure("listening failed after it began")
        }
    }

    /// A notification arrived from the router.
    ///
    /// `isWritable`: the socket takes bytes.
    mutating func notificationArrived(
        _ notification: OutgoingNotification,
        isWritable: Bool
    ) -> OnNotification {
        switch consume self {
        case .deaf:
            self = .deaf
            return .ignore
        case .starting(let streams):
            self = .starting(streams: streams)
            return .ignore
        case .listening(var window):
            let action = window.arrived(notification, isWritable: isWritable)
            self = .listening(window)
            return action
        }
    }

    /// The next queued notification, if there is room for it; the socket must take bytes.
    mutating func nextWaiting() -> NotificationWindow.Ready? {
        switch consume self {
        case .deaf:
            self = .deaf
            return nil
        case .starting(let streams):
            self = .starting(streams: streams)
            return nil
        case .listening(var window):
            let ready = window.nextWaiting()
            self = .listening(window)
            return ready
        }
    }

    /// The client has processed every notification up to this one.
    mutating func acknowledged(_ number: UInt64) -> OnAcknowledgement {
        switch consume self {
        case .deaf:
            self = .deaf
            return .close(.frameKindUnexpected)
        case .starting(let streams):
            self = .starting(streams: streams)
            return .close(.frameKindUnexpected)
        case .listening(var window):
            let action = window.acknowledged(number)
            self = .listening(window)
            return action
        }
    }

    /// Whether the store was asked to watch for this connection.
    var isWatching: Bool {
        switch self {
        case .deaf: false
        case .starting: true
        case .listening: true
        }
    }

    /// Whether a queued notification waits for the socket only.
    var isBlocked: Bool {
        switch self {
        case .deaf: false
        case .starting: false
        case .listening(let window): window.isBlocked
        }
    }
}
