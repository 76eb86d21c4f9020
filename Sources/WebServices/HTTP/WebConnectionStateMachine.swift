/// The states of a connection, one request after another.
///
///     awaitingHead ─► receiving ─► working ─► responding ─► awaitingHead
///          │              │                       │
///          └──────────────┴─► responding, last ───┴─► discarding ─► closed
///
/// A response before the end of its request is the last one of the connection: what the client still
/// sends is discarded for a moment, so that it reads the response. Events in other states are races and
/// are ignored: swift-nio gives no head before the response to the last request.
enum WebConnectionStateMachine: ~Copyable {
    /// Exits: `headReceived`, `refused`, `closed`.
    case awaitingHead
    /// Exits: `bodyReceived` beyond the bound, `endReceived`, `refused`, `closed`.
    case receiving(bytes: Int, bytesMax: Int)
    /// Exits: `responseReady`, `closed`.
    case working
    /// Exits: `responseTaken`, `closed`.
    case responding(isEarly: Bool, keepsAlive: Bool)
    /// Exits: `closed`.
    case discarding
    case closed

    enum OnBody: Equatable {
        case append
        case refuse
        case ignore
    }

    enum OnTaken: Equatable {
        case awaitRequest
        case discard
        case close
        case ignore
    }

    /// A head arrived, with the bound of its body in bytes.
    ///
    /// - Returns: Whether the body is to be received.
    mutating func headReceived(bytesMax: Int) -> Bool {
        switch consume self {
        case .awaitingHead:
            self = .receiving(bytes: 0, bytesMax: bytesMax)
            return true
        case .receiving(let bytes, let bytesMax):
            self = .receiving(bytes: bytes, bytesMax: bytesMax)
            return false
        case .working:
            self = .working
            return false
        case .responding(let isEarly, let keepsAlive):
            self = .responding(isEarly: isEarly, keepsAlive: keepsAlive)
            return false
        case .discarding:
            self = .discarding
            return false
        case .closed:
            self = .closed
            return false
        }
    }

    /// Bytes of the body arrived.
    mutating func bodyReceived(_ count: Int) -> OnBody {
        switch consume self {
        case .receiving(let bytes, let bytesMax):
            self = .receiving(bytes: bytes + count, bytesMax: bytesMax)
            return bytes + count > bytesMax ? .refuse : .append
        case .awaitingHead:
            self = .awaitingHead
            return .ignore
        case .working:
            self = .working
            return .ignore
        case .responding(let isEarly, let keepsAlive):
            self = .responding(isEarly: isEarly, keepsAlive: keepsAlive)
            return .ignore
        case .discarding:
            self = .discarding
            return .ignore
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The request is whole.
    ///
    /// - Returns: Whether to execute it.
    mutating func endReceived() -> Bool {
        switch consume self {
        case .receiving:
            self = .working
            return true
        case .awaitingHead:
            self = .awaitingHead
            return false
        case .working:
            self = .working
            return false
        case .responding(_, let keepsAlive):
            // Nothing is left to be discarded.
            self = .responding(isEarly: false, keepsAlive: keepsAlive)
            return false
        case .discarding:
            self = .discarding
            return false
        case .closed:
            self = .closed
            return false
        }
    }

    /// There is a response; `keepsAlive` says whether the client wants another.
    ///
    /// - Returns: Whether to write it, and whether the connection goes on after it.
    mutating func responseReady(keepsAlive: Bool) -> (writes: Bool, keepsAlive: Bool) {
        switch consume self {
        case .working:
            self = .responding(isEarly: false, keepsAlive: keepsAlive)
            return (true, keepsAlive)
        case .awaitingHead:
            self = .responding(isEarly: true, keepsAlive: false)
            return (true, false)
        case .receiving:
            self = .responding(isEarly: true, keepsAlive: false)
            return (true, false)
        case .responding(let isEarly, let keepsAlive):
            self = .responding(isEarly: isEarly, keepsAlive: keepsAlive)
            return (false, false)
        case .discarding:
            self = .discarding
            return (false, false)
        case .closed:
            self = .closed
            return (false, false)
        }
    }

    /// The socket has taken the response.
    mutating func responseTaken() -> OnTaken {
        switch consume self {
        case .responding(_, keepsAlive: true):
            self = .awaitingHead
            return .awaitRequest
        case .responding(isEarly: true, _):
            self = .discarding
            return .discard
        case .responding:
            self = .closed
            return .close
        case .awaitingHead:
            self = .awaitingHead
            return .ignore
        case .receiving(let bytes, let bytesMax):
            self = .receiving(bytes: bytes, bytesMax: bytesMax)
            return .ignore
        case .working:
            self = .working
            return .ignore
        case .discarding:
            self = .discarding
            return .ignore
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The connection has ended.
    mutating func ended() { self = .closed }
}
