/// The change hints that a group of subscriptions is owed because comparing was too expensive.
///
/// They are sent in laps: each subscription gets one hint per lap, and a lap begins at most once a
/// second.
struct OwedHints {
    private static let lapMilliseconds: Int64 = 1_000

    /// The hints cover every change up to this position.
    private(set) var position: Int64 = 0
    /// Whether there were changes that this lap, or the next one, reports.
    private(set) var isOwed = false
    /// Number of subscriptions without a hint in this lap.
    private(set) var left = 0
    /// Index of the next subscription.
    private(set) var next = 0
    private var lapBeganMilliseconds: Int64?

    /// There were further changes.
    mutating func add(upTo position: Int64) {
        self.position = max(self.position, position)
        self.isOwed = true
    }

    /// Whether to send a hint now, in a group of `count` subscriptions.
    mutating func isDue(nowMilliseconds now: Int64, of count: Int) -> Bool {
        if self.left > 0 { return true }
        guard self.isOwed else { return false }
        if let began = self.lapBeganMilliseconds, now - began < Self.lapMilliseconds { return false }
        self.lapBeganMilliseconds = now
        self.isOwed = false
        self.left = count
        return true
    }

    /// The index of the next subscription, of `count`; `nil` if the lap is complete.
    mutating func takeNext(of count: Int) -> Int? {
        guard self.left > 0, count > 0 else {
            self.left = 0
            return nil
        }
        self.left -= 1
        defer { self.next += 1 }
        if self.next >= count { self.next = 0 }
        return self.next
    }

    /// Whether no hint is left to send.
    var isPaid: Bool { !self.isOwed && self.left == 0 }
}
