package import NIOCore

/// Detects dead peers: silence, then a ping, then the end.
///
///     listening --- silence for silenceMax ---> pinged --- silence for pongTimeout ---> close
///         ^                                       |
///         +------------ bytes received -----------+
///
/// Received bytes only store a time. The timer is set again when it fires, not with every frame.
package struct KeepaliveStateMachine {
    package enum OnTimer: Equatable {
        case wait(until: NIODeadline)
        case ping(until: NIODeadline)
        case close
    }

    /// Timeout of the `pong`.
    package static let pongTimeout = TimeAmount.seconds(10)

    private let silenceMax: TimeAmount
    /// When bytes of the peer last arrived.
    package private(set) var receivedAt: NIODeadline
    private var pingedAt: NIODeadline?
    private var isPongAwaited = false

    package init(silenceMax: TimeAmount, now: NIODeadline) {
        self.silenceMax = silenceMax
        self.receivedAt = now
    }

    /// Bytes of the peer arrived, or the peer is expected to send from now on.
    package mutating func received(at now: NIODeadline) {
        self.receivedAt = now
        self.pingedAt = nil
    }

    /// A pong arrived.
    ///
    /// - Returns: Whether a ping had requested it.
    package mutating func pongReceived() -> Bool {
        defer { self.isPongAwaited = false }
        return self.isPongAwaited
    }

    package mutating func timerFired(at now: NIODeadline) -> OnTimer {
        if let pingedAt = self.pingedAt {
            let end = pingedAt + Self.pongTimeout
            return now >= end ? .close : .wait(until: end)
        }
        let silenceEnd = self.receivedAt + self.silenceMax
        guard now >= silenceEnd else { return .wait(until: silenceEnd) }
        self.pingedAt = now
        self.isPongAwaited = true
        return .ping(until: now + Self.pongTimeout)
    }
}
