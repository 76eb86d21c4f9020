/// Values in the order of their keys, as one array: a copy shares everything until one of both is
/// changed.
struct SortedMap<Key: Comparable, Value> {
    private(set) var entries: [(key: Key, value: Value)] = []

    var isEmpty: Bool { self.entries.isEmpty }

    subscript(key: Key) -> Value? {
        get {
            let offset = self.offset(of: key)
            return self.has(key, at: offset) ? self.entries[offset].value : nil
        }
        set {
            let offset = self.offset(of: key)
            switch (self.has(key, at: offset), newValue) {
            case (true, let value?): self.entries[offset].value = value
            case (true, nil): self.entries.remove(at: offset)
            case (false, let value?): self.entries.insert((key, value), at: offset)
            case (false, nil): break
            }
        }
    }

    /// The offset of the first entry from the key on.
    func offset(of key: Key) -> Int { self.offset { $0 >= key } }

    /// The offset of the first entry whose key is wanted, as are all behind it.
    func offset(where isWanted: (Key) -> Bool) -> Int {
        var (low, high) = (0, self.entries.count)
        while low < high {
            let middle = (low + high) / 2
            if isWanted(self.entries[middle].key) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func has(_ key: Key, at offset: Int) -> Bool {
        offset < self.entries.count && self.entries[offset].key == key
    }
}

extension SortedMap: Sendable where Key: Sendable, Value: Sendable {}

/// A name, in the order of its UTF-8 bytes.
struct Name: Comparable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: Name, right: Name) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    static func < (left: Name, right: Name) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// Two keys, the first of which comes first.
struct Pair<First: Comparable, Second: Comparable>: Comparable {
    let first: First
    let second: Second

    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    static func < (left: Pair, right: Pair) -> Bool {
        left.first < right.first || (left.first == right.first && left.second < right.second)
    }
}

extension Pair: Sendable where First: Sendable, Second: Sendable {}

/// A list of values, compared one after the other.
struct Values<Value: Comparable>: Comparable {
    let list: [Value]

    init(_ list: [Value]) { self.list = list }

    static func < (left: Values, right: Values) -> Bool { left.list.lexicographicallyPrecedes(right.list) }
}

extension Values: Sendable where Value: Sendable {}
