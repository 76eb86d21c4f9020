import RecordModel
import StorageContract

/// The items of a zone that were judged: saves and deletes that were accepted, and why others failed.
final class PlannedItems {
    /// Accepted saves, in the order of the items.
    private(set) var saves: [PlannedSave] = []
    /// Whether any save ever had parts: without, nothing has to be settled among them.
    private(set) var haveParts = false
    var deletes: [PlannedDelete] = []
    /// By number of the item.
    private(set) var failures: [Int: StoreError] = [:]
    /// Saves that failed, by record name: items that need one fail too.
    private var failedSaves: [ExactName: Int] = [:]
    /// Offsets of saves by record name.
    ///
    /// Made at the first lookup: requests without references and deletes never need it.
    private var knownOffsets: [ExactName: Int]?
    private let room: RecordRoom

    init(_ room: RecordRoom) {
        self.room = room
    }

    /// The accepted save of a record.
    func save(of name: String) -> PlannedSave? { self.offsets[ExactName(name)].map { self.saves[$0] } }

    /// The number of the save of a record that failed.
    func failedSave(of name: String) -> Int? { self.failedSaves[ExactName(name)] }

    func accept(_ save: PlannedSave) {
        self.knownOffsets?[ExactName(save.name)] = self.saves.count
        self.saves.append(save)
        if save.parts != nil { self.haveParts = true }
    }

    /// Refuses a save, also one that was accepted before.
    func refuse(_ index: Int, name: String, _ error: StoreError) {
        self.failures[index] = self.room.fitting(error)
        self.failedSaves[ExactName(name)] = index
        guard let offset = self.offsets[ExactName(name)] else { return }
        self.knownOffsets = nil
        self.saves.remove(at: offset)
    }

    func refuse(_ save: PlannedSave, _ error: StoreError) {
        self.refuse(save.index, name: save.name, error)
    }

    func refuseDelete(_ index: Int, _ error: StoreError) { self.failures[index] = error }

    /// Fails all other items when one has failed, as in an atomic zone: those at fault keep theirs.
    ///
    /// Returns whether one has.
    func failPeers(of items: [Int]) -> Bool {
        guard !self.failures.isEmpty else { return false }
        let culprits = self.failures.filter { !$0.value.isDependence }.keys
        let first = culprits.min() ?? self.failures.keys.min()!
        for index in items where self.failures[index] == nil {
            self.failures[index] = .atomicPeer(index: first)
        }
        self.saves = []
        self.haveParts = false
        self.knownOffsets = nil
        self.deletes = []
        return true
    }

    private var offsets: [ExactName: Int] {
        if let known = self.knownOffsets { return known }
        var offsets: [ExactName: Int] = [:]
        offsets.reserveCapacity(self.saves.count)
        for (offset, save) in self.saves.enumerated() { offsets[ExactName(save.name)] = offset }
        self.knownOffsets = offsets
        return offsets
    }
}

/// A record that will be deleted, with those that go with it.
struct PlannedDelete {
    let index: Int
    let name: String
    /// Whether there is something to be deleted.
    let isThere: Bool
    /// The record itself and what refers to it with `deleteSelf`, and so on; the farthest last.
    ///
    /// The records that go with the delete, without those of an earlier delete. Empty until all
    /// deletes are validated.
    var cascade: [String] = []
    /// The share that the requester leaves instead.
    var left: StoredShare?
}

extension StoreError {
    /// Whether the item failed only because it needs another that did.
    fileprivate var isDependence: Bool {
        if case .dependsOn = self { return true }
        return false
    }
}
