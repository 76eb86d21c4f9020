import RecordModel

/// A record that will be written.
///
/// An object, because copying it takes longer than looking it up. Nearly always `parts` is `nil`,
/// so a save costs no more than the record.
final class PlannedSave {
    let index: Int
    let name: String
    let existing: StoredRecord?
    let record: StoredRecord
    /// Work besides the save.
    ///
    /// `nil` if only the record is written, and nothing refers to anything.
    let parts: PlannedParts?

    init(index: Int, name: String, existing: StoredRecord?, record: StoredRecord, parts: PlannedParts?) {
        self.index = index
        self.name = name
        self.existing = existing
        self.record = record
        self.parts = parts
    }

    /// What becomes of a share; `nil` if the record is none.
    var share: Share? { self.parts?.share }
}

/// What a save does besides writing its record.
final class PlannedParts {
    /// Whether it is the first record of its type that anybody saves.
    var definesType = false
    var definitions: [String: FieldDefinition] = [:]
    var referencesBefore = References()
    var references = References()
    /// What the save itself refers to: it must be there.
    var targets: [String] = []
    var assets = AssetChanges.none
    /// Of the assets that the record did not name before.
    var assetNumbers: [AssetNumber] = []
    var share: Share?
}

/// The accepted saves of a zone, in the order of the items and by record name.
final class PlannedSaves {
    private(set) var inOrder: [PlannedSave] = []
    /// Whether any ever had parts: without, nothing has to be settled among them.
    private(set) var haveParts = false
    /// Made when the first is asked for: without references and deletes nobody asks.
    private var placesKnown: [String: Int]?

    var isEmpty: Bool { self.inOrder.isEmpty }

    subscript(_ name: String) -> PlannedSave? { self.places[name].map { self.inOrder[$0] } }

    func append(_ save: PlannedSave) {
        self.placesKnown?[save.name] = self.inOrder.count
        self.inOrder.append(save)
        if save.parts != nil { self.haveParts = true }
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
