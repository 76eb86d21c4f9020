import StorageContract

/// Zones and record types that the snapshots of a connection have found.
///
/// The store has a version of its zones, and one of its record types, which come with the first answer of
/// a snapshot. From then on what is remembered is true of the snapshot. Before that it is good for
/// choosing questions.
struct RememberedRows: KnownRows {
    private struct Name: Hashable {
        let owner: Int64
        let name: String
    }

    private var zones: [Name: ZoneKey] = [:]
    private var types: [Name: StoredType] = [:]
    private var generation: Int64 = -1
    private var schemaVersion: Int64 = -1
    /// Whether the versions of the snapshot are known.
    private(set) var isTrue = false

    /// Beyond this number all are forgotten: the memory is bounded.
    private static let rowsMax = 10_000

    /// A snapshot begins.
    mutating func begin() {
        if self.zones.count > Self.rowsMax { self.zones = [:] }
        if self.types.count > Self.rowsMax { self.types = [:] }
        self.isTrue = false
    }

    /// The versions of the snapshot came.
    mutating func note(schemaVersion: Int64, generation: Int64) {
        if schemaVersion != self.schemaVersion { self.types = [:] }
        if generation != self.generation { self.zones = [:] }
        (self.schemaVersion, self.generation, self.isTrue) = (schemaVersion, generation, true)
    }

    func zone(named name: String, in database: DatabaseID) -> ZoneKey? {
        self.zones[Name(owner: database.rawValue, name: name)]
    }

    func type(named name: String, in environment: EnvironmentID) -> StoredType? {
        self.types[Name(owner: environment.rawValue, name: name)]
    }

    mutating func remember(_ zone: ZoneKey, named name: String, in database: DatabaseID) {
        self.zones[Name(owner: database.rawValue, name: name)] = zone
    }

    mutating func remember(_ type: StoredType, named name: String, in environment: EnvironmentID) {
        self.types[Name(owner: environment.rawValue, name: name)] = type
    }
}
