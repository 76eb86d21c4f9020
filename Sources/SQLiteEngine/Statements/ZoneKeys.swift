import StorageContract

/// Cached keys of zones by name; the owner clears them after a change.
struct ZoneKeys {
    private struct Name: Hashable {
        let database: DatabaseID
        let name: String
    }

    private var keys: [Name: ZoneKey] = [:]

    var count: Int { self.keys.count }

    subscript(name: String, database: DatabaseID) -> ZoneKey? {
        get { self.keys[Name(database: database, name: name)] }
        set { self.keys[Name(database: database, name: name)] = newValue }
    }

    mutating func removeAll() { self.keys.removeAll(keepingCapacity: true) }
}
