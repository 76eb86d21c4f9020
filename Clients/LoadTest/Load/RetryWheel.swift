/// Elements that are due at a time of their own, in milliseconds of any monotonic clock.
struct RetryWheel<Element> {
    /// How far in the future a time may be.
    static var millisecondsMax: Int64 { 8_191 }

    private var slots: [[Element]] = Array(repeating: [], count: Int(Self.millisecondsMax) + 1)
    /// Elements that are due up to this time were taken.
    private var taken: Int64
    private(set) var count = 0

    init(now: Int64) {
        self.taken = now
    }

    /// Adds an element.
    ///
    /// Its time is clamped to the range after the last taken time.
    mutating func add(_ element: Element, at time: Int64) {
        let time = min(max(time, self.taken + 1), self.taken + Self.millisecondsMax)
        self.slots[Int(time & Self.millisecondsMax)].append(element)
        self.count += 1
    }

    /// Takes the elements that are due at or before this time, in the order of times.
    mutating func take(through now: Int64) -> [Element] {
        var due: [Element] = []
        while self.taken < now, self.count > 0 {
            self.taken += 1
            let slot = Int(self.taken & Self.millisecondsMax)
            self.count -= self.slots[slot].count
            due += self.slots[slot]
            self.slots[slot] = []
        }
        self.taken = max(self.taken, now)
        return due
    }

    /// Takes all elements.
    mutating func takeAll() -> [Element] {
        let now = self.taken
        defer { self.taken = now }
        return self.take(through: now + Self.millisecondsMax)
    }
}
