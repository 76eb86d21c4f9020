/// Lists of small numbers, in sequence in one array: a graph of 50,000 records has as many lists.
struct NumberLists: Sendable {
    private var numbers: [Int32] = []
    /// The end offset of each list.
    private var ends: [Int] = []

    /// The number of closed lists.
    var count: Int { self.ends.count }

    subscript(_ list: Int) -> ArraySlice<Int32> {
        self.numbers[(list == 0 ? 0 : self.ends[list - 1])..<self.ends[list]]
    }

    /// Adds to the list that is open.
    mutating func append(_ number: Int32) { self.numbers.append(number) }

    /// Begins the next list.
    mutating func close() { self.ends.append(self.numbers.count) }

    /// Removes all lists behind the first `count`, and the numbers added to an open one.
    mutating func removeAll(behind count: Int) {
        self.ends.removeLast(self.ends.count - count)
        self.numbers.removeLast(self.numbers.count - (self.ends.last ?? 0))
    }

    /// For each of the first `count` numbers, the lists that contain it.
    func reversed(count: Int) -> NumberLists {
        var sizes = [Int](repeating: 0, count: count)
        for number in self.numbers { sizes[Int(number)] += 1 }
        var reversed = NumberLists()
        reversed.numbers = [Int32](repeating: 0, count: self.numbers.count)
        var offsets: [Int] = []
        offsets.reserveCapacity(count)
        var end = 0
        for size in sizes {
            offsets.append(end)
            end += size
            reversed.ends.append(end)
        }
        for list in 0..<self.count {
            for number in self[list] {
                reversed.numbers[offsets[Int(number)]] = Int32(list)
                offsets[Int(number)] += 1
            }
        }
        return reversed
    }
}
