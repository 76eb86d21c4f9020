import RecordModel

/// The fields of a record type as accepted saves of a request leave them.
struct PlannedDefinitions {
    /// What the request adds.
    var added: [String: FieldDefinition] = [:]
    /// These, and what was there before.
    var all: FieldDefinitions
}

/// What saves need of the schema, and what they add to it.
extension ZonePlan {
    /// The fields of a type: those that are there, and those that accepted saves add.
    mutating func definitions(ofType type: String) throws(StorageFailure) -> FieldDefinitions {
        if !self.defined.isEmpty, let ours = self.defined[type] { return ours.all }
        if let known = self.storedDefinitions, known.type == type { return known.fields }
        let stored = try self.rule.transaction.fields(ofType: type, in: self.rule.requester.environment)
        self.storedDefinitions = (type, stored)
        return stored
    }

    func definitions(
        neededFor save: RecordSave,
        given defined: FieldDefinitions
    ) throws(StoreError) -> [String: FieldDefinition] {
        var definitions = try Schema.definitions(
            neededFor: save.changes,
            ofType: save.recordType,
            given: defined,
            scope: self.rule.requester.scope
        )
        guard let ours = self.defined[save.recordType] else { return definitions }
        // What an earlier item defines is defined by this one too: that one may yet be refused.
        for slice in save.changes.slices where slice.type != .clear && slice.type != .emptyList {
            let name = save.changes.name(of: slice)
            if let definition = ours.added[name] { definitions[name] = definition }
        }
        return definitions
    }

    /// Refuses a save that adds a field when the type has as many as it may.
    ///
    /// A type that has more, from before there was a limit, takes every save that adds none.
    func checkRoom(
        for definitions: [String: FieldDefinition],
        ofType type: String,
        given defined: FieldDefinitions
    ) throws(StoreError) {
        guard !definitions.isEmpty else { return }
        let added = definitions.keys.count { defined[$0] == nil }
        guard added == 0 || defined.fieldCount(ofType: type) + added <= Bounds.recordTypeFieldsMax else {
            throw .tooManyFields(recordType: type)
        }
    }

    /// Whether the schema takes one more record type, or an accepted save has added this one.
    func hasRoom(forType type: String) throws(StorageFailure) -> Bool {
        if self.typesAdded.contains(type) { return true }
        let count = try self.rule.transaction.countOfTypes(in: self.rule.requester.environment)
        // The type of user records is one of them.
        return 1 + count + self.typesAdded.count < Bounds.recordTypesMax
    }

    /// Remembers what a save adds to the schema: later ones are judged by it.
    mutating func keepDefinitions(of planned: PlannedSave, given defined: FieldDefinitions) {
        guard let parts = planned.parts else { return }
        let type = planned.record.recordType
        if parts.definesType { self.typesAdded.insert(type) }
        let new = parts.definitions.filter { defined[$0.key] == nil }
        guard !new.isEmpty else { return }
        self.defined[type, default: PlannedDefinitions(all: defined)].added.merge(new) { first, _ in first }
        self.defined[type]?.all.define(new)
    }
}

extension FieldDefinitions {
    /// Fields of a type as a schema counts them: user records always have that of their roles.
    fileprivate func fieldCount(ofType type: String) -> Int {
        let hasAll = type != UserRecord.type || self[UserRecord.rolesField] != nil
        return self.userFieldCount + (hasAll ? 0 : 1)
    }
}
