import Transport
import WireProtocol

/// The transfer of asset bytes on a stream, besides its request and items.
enum TransferStream: Hashable {
    case upload(UploadStream)
    case download(DownloadStream)
}

/// The client's side of a connection: its state, and its actions for each event.
struct ClientSide: ConnectionSide {
    /// The frame before streams may be opened, with the credit that this side has granted.
    enum Handshake {
        case connecting(Windows, expectsChallenge: Bool)
        case awaitingChallenge(Windows)
        case awaitingWelcome(Windows)
    }

    struct Stream {
        var receiving: ReceiveWindow
        var transfer: TransferStream?
    }

    static var frameBeforeWelcome: Violation { .frameUnexpected }

    let inFlightMax: Int
    let streamWindowBytes: UInt32
    var notifications = NotificationSequence()
    /// `nil` if the numbers have run out.
    var nextStream: UInt32?

    init(inFlightMax: Int, streamWindowBytes: UInt32, firstStream: UInt32 = 1) {
        self.inFlightMax = inFlightMax
        self.streamWindowBytes = streamWindowBytes
        self.nextStream = firstStream
    }
}

// MARK: - Actions

extension ClientSide {
    enum Admission: Equatable {
        /// Send the request on this stream, and say so with `requestSent`.
        case open(stream: UInt32)
        /// No credit, or as many in flight as allowed.
        case wait
        /// This connection takes no more requests.
        case refuse
    }

    enum OnConnected: Equatable {
        case sendHello
        case ignore
    }

    enum OnChallenge: Equatable, FrameAction {
        case prove
        case close(Violation)
        case ignore
    }

    enum OnWelcome: Equatable, FrameAction {
        case announce
        case close(Violation)
        case ignore
    }

    /// About frames with contents to hand over: items, notifications, bytes of transfers.
    enum OnDelivery: Equatable, FrameAction {
        case deliver
        case close(Violation)
        case ignore
    }

    enum OnEnd: Equatable, FrameAction {
        case finish
        /// The stream was the last of a connection that drains.
        case finishAndClose
        case close(Violation)
        case ignore
    }

    enum OnCredit: Equatable, FrameAction {
        case resume
        case close(Violation)
        case ignore
    }

    enum OnCancel: Equatable {
        case sendCancel
        case ignore
    }

    /// Credit to grant, in payload bytes; nothing where it is 0.
    struct Grants: Hashable {
        static let nothing = Grants(connectionBytes: 0, streamBytes: 0)

        var connectionBytes: UInt32
        var streamBytes: UInt32
    }
}
