import StorageContract

/// Entries that a write set adds and removes.
struct EntryChanges {
    var added: [(entry: IndexEntry, record: Int64)] = []
    var removed: [(entry: IndexEntry, record: Int64)] = []

    var count: Int { self.added.count + self.removed.count }

    mutating func add(_ changes: IndexChanges, of record: Int64) {
        for entry in changes.removed { self.removed.append((entry, record)) }
        for entry in changes.added { self.added.append((entry, record)) }
    }
}

/// References that a write set adds and removes.
struct ReferenceChanges {
    var made: [(target: String, referrer: String, change: ReferenceChange)] = []
    var ended: [(target: String, referrer: String)] = []

    var count: Int { self.made.count + self.ended.count }

    mutating func add(_ change: ReferenceChange, by referrer: String) {
        if change.kinds.isEmpty {
            self.remove(change.target, by: referrer)
        } else {
            self.made.append((change.target, referrer, change))
        }
    }

    mutating func remove(_ target: String, by referrer: String) { self.ended.append((target, referrer)) }
}
