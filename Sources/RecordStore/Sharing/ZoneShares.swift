import RecordModel
import StorageContract

/// The shares of one zone: a zone may have thousands, and each record that is written asks for some.
struct ZoneShares {
    private var shares: [ShareNumber: StoredShare] = [:]
    private var byName: [ExactName: ShareNumber] = [:]
    private var byRoot: [ExactName: ShareNumber] = [:]
    /// The share of the zone as a whole.
    private(set) var zoneWide: StoredShare?

    init(_ shares: [StoredShare] = []) {
        for share in shares { self.insert(share) }
    }

    var isEmpty: Bool { self.shares.isEmpty }
    /// Whether there are shares of records with their descendants.
    var hasTrees: Bool { !self.byRoot.isEmpty }
    /// In the order in which they were made.
    var all: [StoredShare] { self.shares.values.sorted { $0.number.rawValue < $1.number.rawValue } }

    subscript(_ number: ShareNumber) -> StoredShare? { self.shares[number] }

    func share(named name: String) -> StoredShare? {
        self.byName[ExactName(name)].flatMap { self.shares[$0] }
    }

    func share(ofRoot name: String) -> StoredShare? {
        self.byRoot[ExactName(name)].flatMap { self.shares[$0] }
    }

    mutating func insert(_ share: StoredShare) {
        self.shares[share.number] = share
        self.byName[ExactName(share.name)] = share.number
        if let root = share.root {
            self.byRoot[ExactName(root)] = share.number
        } else {
            self.zoneWide = share
        }
    }

    mutating func remove(_ share: StoredShare) {
        self.shares[share.number] = nil
        self.byName[ExactName(share.name)] = nil
        if let root = share.root { self.byRoot[ExactName(root)] = nil } else { self.zoneWide = nil }
    }
}
