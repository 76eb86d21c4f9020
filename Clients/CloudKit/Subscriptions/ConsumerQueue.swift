internal import RecordClient
internal import RecordModel

/// A notification that arrived, with the key that it has for all consumers.
struct ArrivedNotification: Sendable {
    let key: NotificationKey
    let id: String
    let notification: RecordModel.Notification
}

/// The notifications that one consumer has not acknowledged, oldest first.
///
/// - Bounds: As many as a connection may have unacknowledged, and as many of earlier connections.
///   Of the latter the oldest are dropped first: the server announces on the next connection what
///   was not acknowledged.
struct ConsumerQueue {
    static let keptMax = Bounds.notificationsUnacknowledgedMax

    private var waiting: [ArrivedNotification] = []
    private var inHands: ArrivedNotification?

    mutating func append(_ arrived: ArrivedNotification) {
        self.waiting.append(arrived)
    }

    /// Notes that another connection has begun.
    mutating func connectionBegan() {
        self.waiting.removeFirst(max(0, self.waiting.count - Self.keptMax))
    }

    /// Notes that the delivered notification is acknowledged.
    mutating func took() {
        self.inHands = nil
    }

    /// Returns the next notification; `nil` if there is none yet.
    mutating func next() -> ArrivedNotification? {
        guard !self.waiting.isEmpty else { return nil }
        self.inHands = self.waiting.removeFirst()
        return self.inHands
    }

    /// Returns the number of a connection's first notification that is not acknowledged; `nil` if
    /// all are.
    func firstOutstanding(of connection: Int) -> UInt64? {
        if let inHands, inHands.key.connection == connection { return inHands.key.number }
        return self.waiting.first { $0.key.connection == connection }?.key.number
    }
}
