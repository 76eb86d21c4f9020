/// Values by stream number.
///
/// Streams are opened in ascending order and few are open at a time. Searching and changing a
/// sorted array takes less time than hashing a number.
///
/// Each user specialises the table: the generic version was slower than a dictionary.
@usableFromInline
package struct StreamTable<Value> {
    @usableFromInline
    struct Entry {
        @usableFromInline let stream: UInt32
        @usableFromInline var value: Value

        @inlinable
        init(stream: UInt32, value: Value) {
            self.stream = stream
            self.value = value
        }
    }

    @usableFromInline var entries: [Entry] = []

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { self.entries.isEmpty }
    @inlinable package var count: Int { self.entries.count }
    /// In ascending order of their streams.
    @inlinable package var values: [Value] { self.entries.map(\.value) }

    /// The value of a stream; `nil` if there is none.
    @inlinable
    package subscript(stream: UInt32) -> Value? {
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

    /// Removes a stream, and returns its value if there was one.
    @inlinable
    package mutating func removeValue(of stream: UInt32) -> Value? {
        let index = self.index(of: stream)
        return self.holds(stream, at: index) ? self.entries.remove(at: index).value : nil
    }

    @inlinable
    func holds(_ stream: UInt32, at index: Int) -> Bool {
        index < self.entries.count && self.entries[index].stream == stream
    }

    /// The index of the stream, or its insertion index.
    @inlinable
    func index(of stream: UInt32) -> Int {
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
