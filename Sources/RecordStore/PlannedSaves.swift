import RecordModel

/// A record that will be written.
///
/// An object, because it has so many parts that copying it takes longer than looking it up.
final class PlannedSave {
    let index: Int
    let name: String
    let existing: StoredRecord?
    let record: StoredRecord
    /// Whether it is the first record of its type that anybody saves.
    let definesType: Bool
    let definitions: [String: FieldDefinition]
    let heldBefore: Holds
    let holds: Holds
    /// What the save itself refers to: it must be there.
    let targets: [String]
    let assets: AssetChanges
    /// What becomes of a share; `nil`: the record is none.
    var share: PlannedShare?
    /// Of the assets that the record did not name before.
    var assetNumbers: [AssetNumber] = []

    init(
        index: Int,
        name: String,
        existing: StoredRecord?,
        record: StoredRecord,
        definesType: Bool,
        definitions: [String: FieldDefinition],
        heldBefore: Holds,
        holds: Holds,
        targets: [String],
        assets: AssetChanges
    ) {
        self.index = index
        self.name = name
        self.existing = existing
        self.record = record
        self.definesType = definesType
        self.definitions = definitions
        self.heldBefore = heldBefore
        self.holds = holds
        self.targets = targets
        self.assets = assets
    }
}

/// What becomes of a share: behind a reference, as few records are one.
final class PlannedShare {
    let contents: Share

    init(_ contents: Share) { self.contents = contents }
}

/// The accepted saves of a zone, in the order of the items and by record name.
final class PlannedSaves {
    private(set) var inOrder: [PlannedSave] = []
    /// Made when the first is asked for: without references and deletes nobody asks.
    private var placesKnown: [String: Int]?

    var isEmpty: Bool { self.inOrder.isEmpty }

    subscript(_ name: String) -> PlannedSave? { self.places[name].map { self.inOrder[$0] } }

    func append(_ save: PlannedSave) {
        self.placesKnown?[save.name] = self.inOrder.count
        self.inOrder.append(save)
    }

    func remove(_ name: String) -> PlannedSave? {
        guard let place = self.places[name] else { return nil }
        self.placesKnown = nil
        return self.inOrder.remove(at: place)
    }

    private var places: [String: Int] {
        if let known = self.placesKnown { return known }
        var places: [String: Int] = [:]
        places.reserveCapacity(self.inOrder.count)
        for (place, save) in self.inOrder.enumerated() { places[save.name] = place }
        self.placesKnown = places
        return places
    }
}
