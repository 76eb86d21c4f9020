internal import RecordClient
internal import RecordModel

/// A notification that came, with the name that it has for all who are told of it.
struct ArrivedNotification: Sendable {
    let key: NotificationKey
    let id: String
    let notification: RecordModel.Notification
}

/// What one consumer has not taken care of, oldest first.
///
/// - Bounds: As many as a connection may have unacknowledged, and as many of earlier connections: of those the oldest go first, since the
///   server says on the next connection that there is news of what was not acknowledged.
struct ConsumerQueue {
    static let keptMax = Bounds.notificationsUnacknowledgedMax

    private var waiting: [ArrivedNotification] = []
    private var inHands: ArrivedNotification?

    mutating func append(_ arrived: ArrivedNotification) {
        self.waiting.append(arrived)
    }

    /// Another connection begins.
    mutating func connectionBegan() {
        self.waiting.removeFirst(max(0, self.waiting.count - Self.keptMax))
    }

    /// The notification that was handed out is taken care of.
    mutating func took() {
        self.inHands = nil
    }

    /// Hands out the next one; `nil`: there is none yet.
    mutating func next() -> ArrivedNotification? {
        guard !self.waiting.isEmpty else { return nil }
        self.inHands = self.waiting.removeFirst()
        return self.inHands
    }

    /// The number of the first notification of a connection that is not taken care of; `nil`: all are that came.
    func firstOutstanding(of connection: Int) -> UInt64? {
        if let inHands, inHands.key.connection == connection { return inHands.key.number }
        return self.waiting.first { $0.key.connection == connection }?.key.number
    }
}
