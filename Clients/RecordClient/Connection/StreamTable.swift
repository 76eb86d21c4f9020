/// Values by stream number.
///
/// Streams are opened in ascending order and few are open at a time, so that an array in this order is found through, and
/// changed, in less time than hashing a number takes.
struct StreamTable<Value> {
    private struct Entry {
        var stream: UInt32
        var value: Value
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { self.entries.isEmpty }
    var count: Int { self.entries.count }
    /// In ascending order of their streams.
    var values: [Value] { self.entries.map(\.value) }

    subscript(stream: UInt32) -> Value? {
        get {
            let index = self.index(of: stream)
            return self.holds(stream, at: index) ? self.entries[index].value : nil
        }
        set {
            let index = self.index(of: stream)
            let isHeld = self.holds(stream, at: index)
            if let newValue {
                if isHeld {
                    self.entries[index].value = newValue
                } else {
                    self.entries.insert(Entry(stream: stream, value: newValue), at: index)
                }
            } else if isHeld {
                self.entries.remove(at: index)
            }
        }
    }

    mutating func removeValue(of stream: UInt32) -> Value? {
        let index = self.index(of: stream)
        return self.holds(stream, at: index) ? self.entries.remove(at: index).value : nil
    }

    private func holds(_ stream: UInt32, at index: Int) -> Bool {
        index < self.entries.count && self.entries[index].stream == stream
    }

    /// Where the stream is, or belongs.
    private func index(of stream: UInt32) -> Int {
        guard let last = self.entries.last, last.stream >= stream else { return self.entries.count }
        var lower = 0
        var upper = self.entries.count - 1
        while lower < upper {
            let middle = (lower + upper) / 2
            if self.entries[middle].stream < stream { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }
}
