/// The items of a request that were delivered, so that a request that is sent again delivers none
/// twice.
///
/// Nearly all requests have fewer than 64 items and need no allocation.
struct DeliveredItems: Hashable {
    private var first: UInt64 = 0
    private var others: Set<UInt32> = []

    var isEmpty: Bool { self.first == 0 && self.others.isEmpty }

    /// - Returns: Whether the item is new.
    mutating func insert(_ index: UInt32) -> Bool {
        guard index < 64 else { return self.others.insert(index).inserted }
        let bit: UInt64 = 1 << UInt64(index)
        defer { self.first |= bit }
        return self.first & bit == 0
    }
}
