import RecordModel

/// The fields of one record type, as the saves so far have defined them.
package struct FieldDefinitions: Hashable, Sendable {
    private var byName: [String: FieldDefinition] = [:]
    /// Whether a record of the type may refer to others at all: most don't, and need no look at their values.
    private(set) var hasReferences = false

    package init() {}

    package subscript(_ field: String) -> FieldDefinition? { self.byName[field] }

    /// Adds a field; the first definition of a name counts.
    package mutating func define(_ definition: FieldDefinition, field: String) {
        guard self.byName[field] == nil else { return }
        self.byName[field] = definition
        if definition.isReference { self.hasReferences = true }
    }
}

extension FieldDefinition {
    var isReference: Bool { self.type == .reference || self.type == .referenceList }
}
