import RecordModel

/// The notifications of one connection: none before the response to `listen`, then numbered from 1
/// without gaps.
///
/// - Bounds: `Bounds.notificationsUnacknowledgedMax` without an acknowledgement. The server
///   receives one later than this side sends it, so a server that keeps the bound never breaks it
///   here.
/// - Source: `Protocol/README.md` 5.11.
struct NotificationSequence: Hashable {
    private(set) var isListening = false
    /// The stream of the `listen` that has no response yet.
    private var asked: UInt32?
    private var received: UInt64 = 0
    private var taken: UInt64 = 0
    private var acknowledged: UInt64 = 0

    mutating func listenSent(stream: UInt32) {
        self.asked = stream
    }

    func isListen(_ stream: UInt32) -> Bool { self.asked == stream }

    mutating func listenAnswered(isAccepted: Bool) {
        self.asked = nil
        if isAccepted { self.isListening = true }
    }

    mutating func receive(_ number: UInt64) throws(Violation) {
        guard self.isListening else { throw .frameUnexpected }
        guard number == self.received + 1,
            self.received - self.acknowledged < Bounds.notificationsUnacknowledgedMax
        else { throw .notificationOutOfTurn }
        self.received = number
    }

    /// All notifications up to this number are done.
    ///
    /// A number from before, or from the future, changes nothing.
    mutating func take(upTo number: UInt64) {
        guard number <= self.received else { return }
        self.taken = max(self.taken, number)
    }

    /// The number to acknowledge, once; `nil` if nothing is new.
    mutating func acknowledge() -> UInt64? {
        guard self.taken > self.acknowledged else { return nil }
        self.acknowledged = self.taken
        return self.taken
    }
}
