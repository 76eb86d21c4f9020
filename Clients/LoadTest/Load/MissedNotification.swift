/// Why no notification of a save arrived.
struct MissedNotification: Error, Hashable, Sendable {
    var reason: String
    /// Whether the save was acknowledged, so that a notification was due.
    var isViolation: Bool
}
