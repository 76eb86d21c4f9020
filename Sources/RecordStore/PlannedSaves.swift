import RecordModel

/// A record that will be written.
struct PlannedSave {
    let index: Int
    let name: String
    let existing: StoredRecord?
    var record: StoredRecord
    /// Whether it is the first record of its type that anybody saves.
    let definesType: Bool
    let definitions: [String: FieldDefinition]
    let heldBefore: Holds
    let holds: Holds
    /// What the save itself refers to: it must be there.
    let targets: [String]
}

/// The accepted saves of a zone, in the order of the items and by record name.
struct PlannedSaves {
    private(set) var inOrder: [PlannedSave] = []
    private var places: [String: Int] = [:]

    var isEmpty: Bool { self.inOrder.isEmpty }

    subscript(_ name: String) -> PlannedSave? { self.places[name].map { self.inOrder[$0] } }

    mutating func append(_ save: PlannedSave) {
        self.places[save.name] = self.inOrder.count
        self.inOrder.append(save)
    }

    mutating func remove(_ name: String) -> PlannedSave? {
        guard let place = self.places.removeValue(forKey: name) else { return nil }
        for later in self.inOrder[(place + 1)...] { self.places[later.name]! -= 1 }
        return self.inOrder.remove(at: place)
    }
}
