/// That a group of subscriptions is to hear that there may be news, because it could not be found
/// out what the news is.
///
/// They hear of it in laps, each once a lap, and there is a lap a second at the most, however much
/// happens.
struct OwedNews {
    private static let lapMilliseconds: Int64 = 1_000

    /// Everything up to here is news.
    private(set) var position: Int64 = 0
    /// Something happened that this lap, or the next one, tells.
    private(set) var isOwed = false
    /// How many have not been told yet in this lap.
    private(set) var left = 0
    /// Whose turn it is.
    private(set) var next = 0
    private var lapBeganMilliseconds: Int64?

    /// Something happened.
    mutating func add(upTo position: Int64) {
        self.position = max(self.position, position)
        self.isOwed = true
    }

    /// Whether somebody is to be told now, of so many.
    mutating func isDue(nowMilliseconds now: Int64, of count: Int) -> Bool {
        if self.left > 0 { return true }
        guard self.isOwed else { return false }
        if let began = self.lapBeganMilliseconds, now - began < Self.lapMilliseconds { return false }
        self.lapBeganMilliseconds = now
        self.isOwed = false
        self.left = count
        return true
    }

    /// The index of the subscription that is told next, of so many; `nil` if the lap is over.
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

    /// Whether there is nothing more to tell.
    var isPaid: Bool { !self.isOwed && self.left == 0 }
}
