/// Records that were sent before their turn because a child came first.
///
/// They are left out at their turn. Their positions name them, so that a record that has changed
/// meanwhile is not meant. A token remembers the records sent last, as many as fit. A record that
/// is forgotten is sent again, and nothing is ever left out for it.
struct SentAhead: Hashable, Sendable {
    /// As they were sent, those that had their turn as well.
    private var order: [Int64] = []
    private var waiting: Set<Int64> = []

    /// Bytes of a token for them: a few hundred.
    private static let bytesMax = 560

    init() {}

    func contains(_ position: Int64) -> Bool { self.waiting.contains(position) }

    mutating func insert(_ position: Int64) {
        if self.waiting.insert(position).inserted { self.order.append(position) }
    }

    /// Returns whether it was sent ahead.
    mutating func remove(_ position: Int64) -> Bool {
        !self.waiting.isEmpty && self.waiting.remove(position) != nil
    }

    /// Removes those at or before the position.
    mutating func removeAll(through position: Int64) {
        self.waiting = self.waiting.filter { $0 > position }
    }

    // MARK: In a token

    /// The first is a position, the others say how far the next is from it.
    var gaps: [Int64] {
        var kept: [Int64] = []
        var bytes = 0
        var behind: Int64 = 0
        for position in self.order.reversed() where self.waiting.contains(position) {
            // Both ways the gap has the same size, but for the first.
            bytes += Self.size(of: position &- behind)
            guard bytes + Self.size(of: position) <= Self.bytesMax else { break }
            kept.append(position)
            behind = position
        }
        var before: Int64 = 0
        return kept.reversed().map { position in
            defer { before = position }
            return position &- before
        }
    }

    init(gaps: [Int64]) {
        var position: Int64 = 0
        for gap in gaps {
            position &+= gap
            self.insert(position)
        }
    }

    private static func size(of integer: Int64) -> Int {
        var bytes = CompactBytes()
        bytes.append(integer)
        return bytes.bytes.count
    }
}
