/// Values that the snapshots of a connection have found, as of a version.
///
/// The store has a version of its zones, and one of its record types. A snapshot learns them with its
/// first answer. If a value of another version was used before that, the snapshot is stale: its read
/// begins anew, in a snapshot that remembers nothing.
struct SnapshotMemory<Key: Hashable, Value> {
    private var values: [Key: Value] = [:]
    private var version: Int64 = -1
    /// Whether the version of the snapshot is known.
    private var isChecked = true
    /// Whether a value was used before the version was known.
    private(set) var isOpen = false
    private(set) var isStale = false

    /// Beyond so many values all are forgotten: the memory is bounded.
    private static var valuesMax: Int { 10_000 }

    /// A snapshot begins.
    mutating func begin() {
        if self.values.count > Self.valuesMax { self.values = [:] }
        (self.isChecked, self.isOpen, self.isStale) = (false, false, false)
    }

    /// The version of the snapshot.
    mutating func note(version: Int64) {
        self.isChecked = true
        defer { self.isOpen = false }
        guard version != self.version else { return }
        self.isStale = self.isOpen
        self.values = [:]
        self.version = version
    }

    mutating func value(_ key: Key) -> Value? {
        guard let value = self.values[key] else { return nil }
        if !self.isChecked { self.isOpen = true }
        return value
    }

    /// Remembers a value that the snapshot has, whose version is known.
    mutating func remember(_ value: Value, for key: Key) { self.values[key] = value }
}
