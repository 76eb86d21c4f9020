import RecordStore

/// The zones that the snapshots of a connection have found, by name.
///
/// Every commit that may create or delete a zone counts the generation of the store up. A snapshot learns
/// its generation with its first answer. If zones were remembered of another one and used before, the
/// snapshot is stale: its read begins anew, in a snapshot that remembers nothing.
struct ZoneMemory {
    private struct Name: Hashable {
        let database: DatabaseID
        let name: String
    }

    private var keys: [Name: ZoneKey] = [:]
    private var generation: Int64 = -1
    /// Whether the generation of the snapshot is known.
    private var isChecked = true
    private var isUsed = false
    private(set) var isStale = false

    /// Beyond so many zones all are forgotten: the memory is bounded.
    private static let zonesMax = 10_000

    /// A snapshot begins.
    mutating func begin() {
        if self.keys.count > Self.zonesMax { self.keys = [:] }
        (self.isChecked, self.isUsed, self.isStale) = (false, false, false)
    }

    /// The generation of the snapshot.
    mutating func note(generation: Int64) {
        self.isChecked = true
        guard generation != self.generation else { return }
        self.isStale = self.isUsed
        self.keys = [:]
        self.generation = generation
    }

    mutating func key(named name: String, in database: DatabaseID) -> ZoneKey? {
        guard let key = self.keys[Name(database: database, name: name)] else { return nil }
        if !self.isChecked { self.isUsed = true }
        return key
    }

    /// Remembers a zone that the snapshot has, whose generation is known.
    mutating func remember(_ key: ZoneKey, named name: String, in database: DatabaseID) {
        self.keys[Name(database: database, name: name)] = key
    }
}
