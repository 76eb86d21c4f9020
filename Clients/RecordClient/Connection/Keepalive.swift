import NIOCore

/// Finds a server that is gone: asks when nothing was heard for a while, gives up when nothing is answered.
///
/// Only connections with requests in flight or a listener are watched; on others nobody waits.
struct Keepalive {
    enum Step: Equatable {
        /// Look again then.
        case wait(until: NIODeadline)
        case ping
        case giveUp
    }

    /// How long an answer to a ping may take.
    static let answerMax: TimeAmount = .seconds(10)

    private let silenceMax: TimeAmount
    private var heardAt: NIODeadline
    private var pingedAt: NIODeadline?

    /// Starts the wait; the silence allowed is two thirds of the server's, so that we are the first to ask.
    init(idleTimeout: TimeAmount, now: NIODeadline) {
        self.silenceMax = .nanoseconds(idleTimeout.nanoseconds / 3 * 2)
        self.heardAt = now
    }

    /// Something arrived, or the first request after a time without any was sent.
    mutating func heard(now: NIODeadline) {
        self.heardAt = now
        self.pingedAt = nil
    }

    mutating func step(now: NIODeadline) -> Step {
        if let pingedAt = self.pingedAt {
            let deadline = pingedAt + Self.answerMax
            return now >= deadline ? .giveUp : .wait(until: deadline)
        }
        let deadline = self.heardAt + self.silenceMax
        guard now >= deadline else { return .wait(until: deadline) }
        self.pingedAt = now
        return .ping
    }
}
