import RecordModel
import StorageContract

/// The zones of a query in the order of names: one, or all of a database from a name on.
struct ZoneWalk {
    private let database: DatabaseID
    private let store: QueryStore
    private var piece: ArraySlice<NamedZone> = []
    /// `nil` if no zones are left to be read.
    private var nextName: String?

    private static let pieceSize = 64

    /// What a walk through all zones of a database reads first.
    static func firstRead(of database: DatabaseID) -> SnapshotRead {
        .range(RowRange(ZoneRow.byKey, database), limit: Self.pieceSize)
    }

    /// All zones from a name on.
    init(of database: DatabaseID, from name: String, _ store: QueryStore) {
        self.database = database
        self.store = store
        self.nextName = name
    }

    /// This zone only.
    init(_ zone: NamedZone, _ store: QueryStore) {
        self.database = zone.key.database
        self.store = store
        self.piece = [zone]
    }

    mutating func next() throws(QueryFailure) -> NamedZone? {
        if let zone = self.piece.popFirst() { return zone }
        guard let name = self.nextName else { return nil }
        let database = self.database
        let zones = try self.store.stored { (snapshot) throws(StorageFailure) in
            try snapshot.zones(of: database, from: name, limit: Self.pieceSize)
        }
        // The least name that is greater.
        self.nextName = zones.count < Self.pieceSize ? nil : zones.last.map { $0.name + "\0" }
        self.piece = zones[...]
        return self.piece.popFirst()
    }
}
