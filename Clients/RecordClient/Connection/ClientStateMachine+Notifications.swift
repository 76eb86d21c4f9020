/// Listening: what the server may send on stream 0 once it was asked, and what this side owes it for that.
///
/// Our bugs trap: `listen` sent without having been admitted. The server's bugs close: a notification before `listen` was answered, a
/// number out of turn, more of them than may be unacknowledged. Harmless races are ignored: word of notifications of a
/// connection that has ended.
extension ClientStateMachine {
    enum OnNotification: Equatable {
        case deliver
        case violation(Violation)
        case ignore
    }

    /// The request that was just sent on a stream is `listen`.
    mutating func listenSent(stream: UInt32) {
        guard case .open(var streams) = consume self else {
            preconditionFailure("listen was sent without having been admitted")
        }
        streams.notifications.listenSent(stream: stream)
        self = .open(streams)
    }

    /// Whether `listen` was sent on the stream and has no answer yet.
    func isListen(_ stream: UInt32) -> Bool {
        switch self {
        case .connecting: false
        case .awaitingWelcome: false
        case .open(let streams): streams.notifications.isListen(stream)
        case .draining(let streams): streams.notifications.isListen(stream)
        case .closed: false
        }
    }

    /// The stream of `listen` is about to end.
    mutating func listenAnswered(isAccepted: Bool) {
        switch consume self {
        case .connecting(let handshake): self = .connecting(handshake)
        case .awaitingWelcome(let handshake): self = .awaitingWelcome(handshake)
        case .open(var streams):
            streams.notifications.listenAnswered(isAccepted: isAccepted)
            self = .open(streams)
        case .draining(var streams):
            streams.notifications.listenAnswered(isAccepted: isAccepted)
            self = .draining(streams)
        case .closed: self = .closed
        }
    }

    mutating func notificationReceived(_ number: UInt64) -> OnNotification {
        switch consume self {
        case .connecting:
            self = .closed
            return .violation(.frameUnexpected)
        case .awaitingWelcome:
            self = .closed
            return .violation(.frameUnexpected)
        case .open(var streams):
            if let violation = streams.notifications.receive(number) {
                self = .closed
                return .violation(violation)
            }
            self = .open(streams)
            return .deliver
        case .draining(var streams):
            if let violation = streams.notifications.receive(number) {
                self = .closed
                return .violation(violation)
            }
            self = .draining(streams)
            return .deliver
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// All notifications up to this one are taken care of.
    mutating func notificationsTaken(upTo number: UInt64) {
        switch consume self {
        case .connecting(let handshake): self = .connecting(handshake)
        case .awaitingWelcome(let handshake): self = .awaitingWelcome(handshake)
        case .open(var streams):
            streams.notifications.take(upTo: number)
            self = .open(streams)
        case .draining(var streams):
            streams.notifications.take(upTo: number)
            self = .draining(streams)
        case .closed: self = .closed
        }
    }

    /// What to acknowledge before anything else is sent; `nil`: nothing is new.
    mutating func acknowledgementDue() -> UInt64? {
        switch consume self {
        case .connecting(let handshake):
            self = .connecting(handshake)
            return nil
        case .awaitingWelcome(let handshake):
            self = .awaitingWelcome(handshake)
            return nil
        case .open(var streams):
            let number = streams.notifications.acknowledge()
            self = .open(streams)
            return number
        case .draining(var streams):
            let number = streams.notifications.acknowledge()
            self = .draining(streams)
            return number
        case .closed:
            self = .closed
            return nil
        }
    }
}
