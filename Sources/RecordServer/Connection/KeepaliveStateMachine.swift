import NIOCore

/// Finds peers that are gone: silence, then a ping, then the end.
///
///     listening --- silence for idleTimeout ---> pinged --- silence for pongTimeout ---> close(idle)
///         ^                                        |
///         +------------- anything heard -----------+
///
/// Hearing only stores a time; the timer is armed again when it fires, not at every frame.
struct KeepaliveStateMachine {
    enum OnTimer: Equatable {
        case wait(until: NIODeadline)
        case ping(until: NIODeadline)
        case close
    }

    static let pongTimeout = TimeAmount.seconds(10)

    private let idleTimeout: TimeAmount
    /// When bytes of the peer arrived last.
    private(set) var heardAt: NIODeadline
    private var pingedAt: NIODeadline?
    private var isPongAwaited = false

    init(idleTimeout: TimeAmount, now: NIODeadline) {
        self.idleTimeout = idleTimeout
        self.heardAt = now
    }

    /// Bytes of the peer arrived.
    mutating func heard(at now: NIODeadline) {
        self.heardAt = now
        self.pingedAt = nil
    }

    /// A pong arrived.
    ///
    /// `false`: nobody had asked for it.
    mutating func pongReceived() -> Bool {
        defer { self.isPongAwaited = false }
        return self.isPongAwaited
    }

    mutating func timerFired(at now: NIODeadline) -> OnTimer {
        if let pingedAt = self.pingedAt {
            let end = pingedAt + Self.pongTimeout
            return now >= end ? .close : .wait(until: end)
        }
        let silenceEnd = self.heardAt + self.idleTimeout
        guard now >= silenceEnd else { return .wait(until: silenceEnd) }
        self.pingedAt = now
        self.isPongAwaited = true
        return .ping(until: now + Self.pongTimeout)
    }
}
