import RecordModel
import WireProtocol

/// Why a connection ended, or was not made.
enum ConnectionEnd: Error, Hashable {
    /// The network or the server failed; connecting again may mend it. The text says what failed.
    case broken(String)
    /// There is no way from this machine into the network; connecting again may find one.
    case offline(String)
    /// Connecting again fails until an operator or the app changes what the text names.
    case misconfigured(String)
    case goneAway(GoAway)
    case violated(WireError)
    /// Every stream has its response.
    case drained
    case shutDown

    /// The error that ends all requests of the connection; `nil` if they are sent again on the next
    /// one.
    ///
    /// The text names the server.
    func terminalError(server: String) -> ClientError? {
        switch self {
        case .broken, .offline, .drained: nil
        case .misconfigured(let text): .misconfigured(description: "Cannot use \(server): \(text)")
        case .goneAway(let goAway) where goAway.reason.isTerminal:
            .rejected(reason: goAway.reason, message: goAway.message)
        case .goneAway: nil
        case .violated(let error): .protocolViolation(error)
        case .shutDown: .closed
        }
    }

    /// The error for a caller that asked for a connection alone, if the server is up and takes
    /// none for now; otherwise `nil`.
    var refusalForNow: ClientError? {
        guard case .goneAway(let goAway) = self, goAway.reason == .overloaded || goAway.reason == .drain
        else {
            return nil
        }
        return .rejected(reason: goAway.reason, message: goAway.message)
    }

    /// Whether the server takes the client's token no more.
    var isRefusedToken: Bool {
        guard case .goneAway(let goAway) = self else { return false }
        return goAway.reason == .notAuthenticated || goAway.reason == .credentialExpired
    }

    /// Whether the connection served its purpose.
    ///
    /// Any other end is a failed attempt, even if the connection had responded to requests.
    var isOrderly: Bool {
        switch self {
        case .broken, .offline, .drained, .shutDown: true
        case .goneAway(let goAway): !goAway.reason.isTerminal
        case .misconfigured, .violated: false
        }
    }

    /// The error for a caller that times out before there is another connection.
    var description: String {
        switch self {
        case .broken(let text), .offline(let text), .misconfigured(let text): text
        case .goneAway(let goAway):
            goAway.message.isEmpty ? "the server closed the connection" : goAway.message
        case .violated(let error): "the server's bytes break the protocol at \(error.field)"
        case .drained: "the server is stopping"
        case .shutDown: "the client was shut down"
        }
    }
}

extension CloseReason {
    /// Whether the same client is refused again when it connects again.
    fileprivate var isTerminal: Bool {
        switch self {
        case .versionUnsupported, .notAuthenticated, .credentialExpired, .containerUnknown: true
        // Violations: whatever this side does wrong, it would do again.
        default: self.rawValue >= 100
        }
    }
}

extension ClientError {
    /// The error of what waited for a connection in vain.
    static func unreached(_ what: String, because cause: ConnectionEnd) -> ClientError {
        let description = "\(what): \(cause.description)"
        if case .offline = cause { return .offline(description: description) }
        return .unreachable(description: description)
    }
}
