import RecordModel
import StorageContract

/// The fields of a record type as accepted saves of a request leave them.
private struct PlannedDefinitions {
    /// The definitions that the request adds.
    var added: [String: FieldDefinition] = [:]
    /// These, and the definitions from before.
    var all: FieldDefinitions
}

/// Definitions that a save needs and the schema lacks.
struct NeededDefinitions {
    /// Whether the save replaces all fields of a record, each by one of its type.
    var replacesAll = false
    var fields: [String: FieldDefinition] = [:]
    /// Whether it is the first record of its type that is ever saved.
    var definesType = false

    var isEmpty: Bool { !self.definesType && self.fields.isEmpty }
}

/// Record types that a plan has read, and may need again.
private struct TypesRead {
    /// Types by name, without the one that was asked for last; `nil` for one that is not there.
    private var types: [String: StoredType?] = [:]
    /// The type that was asked for last: most requests name one, and need no dictionary for it.
    private var last: (name: String, type: StoredType?)?

    mutating func keep(_ type: StoredType?, named name: String) {
        if let last = self.last, last.name != name { self.types[last.name] = .some(last.type) }
        self.last = (name, type)
    }

    /// Gives a type that was read before; `nil` if it was not read.
    mutating func known(_ name: String) -> StoredType?? {
        if let last = self.last, last.name == name { return .some(last.type) }
        guard let known = self.types[name] else { return nil }
        self.keep(known, named: name)
        return .some(known)
    }
}

/// The schema as saves of a plan find it, and the definitions that they add to it.
struct DefinitionPlan {
    private let transaction: any WriteTransaction
    private let environment: EnvironmentID
    private let scope: DatabaseScope
    private let work: RequestWork
    private var types = TypesRead()
    /// Whether saves may define nothing; `nil` if it was not read.
    private var isFrozen: Bool?
    /// The number of types before the request; `nil` if they were not counted.
    private var typesCount: Int?
    /// The fields that accepted saves define, by record type.
    private var defined: [String: PlannedDefinitions] = [:]
    /// Record types that are new with them.
    private var typesAdded: Set<String> = []

    init(_ rule: ModifyRecordsRule) {
        self.transaction = rule.transaction
        self.environment = rule.requester.environment
        self.scope = rule.requester.scope
        self.work = rule.work
    }

    /// Reads the record types that the plan will need, in one call.
    mutating func read(_ names: some Sequence<String>) throws(StorageFailure) {
        var missing: [String] = []
        for name in names where name != missing.last && !missing.contains(name) { missing.append(name) }
        guard !missing.isEmpty else { return }
        let types = try self.transaction.types(named: missing, in: self.environment)
        for (name, type) in zip(missing, types) { self.types.keep(type, named: name) }
    }

    /// A record type, as it was before the request and, when the plan is applied, as its saves
    /// leave it.
    mutating func type(named name: String) throws(StorageFailure) -> StoredType? {
        if let known = self.types.known(name) { return known }
        let type = try self.transaction.type(named: name, in: self.environment)
        self.types.keep(type, named: name)
        return type
    }

    /// The fields of a type, with those that accepted saves add if they have been applied.
    mutating func fields(ofType type: String) throws(StorageFailure) -> FieldDefinitions {
        try self.type(named: type)?.fields ?? FieldDefinitions()
    }

    /// The fields of a type: the existing ones, and those that accepted saves add.
    mutating func planned(ofType type: String) throws(StorageFailure) -> FieldDefinitions {
        if !self.defined.isEmpty, let ours = self.defined[type] { return ours.all }
        return try self.fields(ofType: type)
    }

    /// Finds the definitions that a save adds to the schema.
    func needed(
        for save: RecordSave,
        from existing: StoredRecord?,
        given defined: FieldDefinitions
    ) throws(StoreError) -> NeededDefinitions {
        var needed = NeededDefinitions()
        // Every field of a stored body is defined, so one that replaces it field by field needs no
        // look at the schema.
        needed.replacesAll = existing?.body.hasSameFields(as: save.changes) ?? false
        if !needed.replacesAll { needed.fields = try self.fields(neededFor: save, given: defined) }
        needed.definesType = !defined.isTypeDefined && save.recordType != UserRecord.type
        return needed
    }

    private func fields(
        neededFor save: RecordSave,
        given defined: FieldDefinitions
    ) throws(StoreError) -> [String: FieldDefinition] {
        var definitions = try Schema.definitions(
            neededFor: save.changes,
            ofType: save.recordType,
            given: defined,
            scope: self.scope
        )
        guard let ours = self.defined[save.recordType] else { return definitions }
        // Definitions of an earlier item are defined by this one too: the earlier may yet be
        // refused.
        for slice in save.changes.slices where slice.type != .clear && slice.type != .emptyList {
            let name = save.changes.name(of: slice)
            if let definition = ours.added[name] { definitions[name] = definition }
        }
        return definitions
    }

    /// Why a schema that changes by deploying alone does not take what a save adds; `nil` if it
    /// does.
    mutating func refusalOfFrozenSchema(
        _ needed: NeededDefinitions,
        ofType type: String
    ) throws(StorageFailure) -> StoreError? {
        guard !needed.isEmpty else { return nil }
        if self.isFrozen == nil {
            self.isFrozen = try self.transaction.isSchemaFrozen(in: self.environment)
        }
        guard self.isFrozen == true else { return nil }
        if needed.definesType { return .newTypeInProduction(type) }
        return needed.fields.keys.min().map { .newFieldInProduction(recordType: type, field: $0) }
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
    mutating func hasRoom(forType type: String) throws(StorageFailure) -> Bool {
        if self.typesAdded.contains(type) { return true }
        if self.typesCount == nil {
            let rows = SchemaRows(environment: self.environment, rows: self.transaction)
            self.typesCount = try rows.countOfTypes()
        }
        // The type of user records is one of them.
        return 1 + (self.typesCount ?? 0) + self.typesAdded.count < Bounds.recordTypesMax
    }

    /// Writes down what accepted saves add to the schema; after that the plan has the types with
    /// it.
    mutating func apply(_ items: PlannedItems) throws(StorageFailure) {
        guard items.haveParts else { return }
        var added: [String: NeededDefinitions] = [:]
        for planned in items.saves {
            guard let parts = planned.parts, parts.definesType || !parts.definitions.isEmpty else { continue }
            // Definitions of several saves are the same.
            added[planned.record.recordType, default: NeededDefinitions()].fields
                .merge(parts.definitions) { first, _ in first }
            if parts.definesType { added[planned.record.recordType]?.definesType = true }
        }
        guard !added.isEmpty else { return }
        for needed in added.values {
            try self.work.count(definitions: needed.fields.count + (needed.definesType ? 1 : 0))
        }
        let writing = SchemaWriting(environment: self.environment, rows: self.transaction)
        for (type, needed) in added.sorted(by: { $0.key < $1.key }) {
            try writing.add(
                needed.fields,
                toType: type,
                isNew: needed.definesType,
                known: self.fields(ofType: type)
            )
            self.types.keep(try self.transaction.type(named: type, in: self.environment), named: type)
        }
    }

    /// Remembers the definitions that a save adds to the schema: later saves are judged by them.
    mutating func keep(_ planned: PlannedSave, given defined: FieldDefinitions) {
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
