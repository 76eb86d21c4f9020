package import RecordModel
package import StorageContract

/// Judges saves that are not made: by the schema, and by the additions of earlier ones to it.
///
/// Calls block, as those of `SchemaStore`.
package struct SchemaTrial {
    private let schemas: SchemaStore
    private let environment: EnvironmentID
    private let scope: DatabaseScope
    private var isFrozen: Bool?
    private var types: [String: FieldDefinitions] = [:]
    private var typesAdded: Set<String> = []

    package init(_ schemas: SchemaStore, for requester: Requester) {
        self.schemas = schemas
        self.environment = requester.environment
        self.scope = requester.scope
    }

    /// The schema's refusal of a save; `nil` if the schema takes the save, which counts from then on.
    ///
    /// The limits of a schema are not checked.
    ///
    /// - Throws: `unavailable`.
    package mutating func refusal(of save: RecordSave) throws(SchemaStoreError) -> StoreError? {
        let type = save.recordType
        let defined = try self.fields(ofType: type)
        let needed: [String: FieldDefinition]
        do throws(StoreError) {
            needed = try Schema.definitions(
                neededFor: save.changes,
                ofType: type,
                given: defined,
                scope: self.scope
            )
        } catch {
            return error
        }
        let isNew =
            !defined.isTypeDefined && type != UserRecord.type && !self.typesAdded.contains(type)
        if isNew || !needed.isEmpty, try self.isSchemaFrozen() {
            if isNew { return .newTypeInProduction(type) }
            return needed.keys.min().map { .newFieldInProduction(recordType: type, field: $0) }
        }
        if isNew { self.typesAdded.insert(type) }
        self.types[type]?.define(needed)
        return nil
    }

    private mutating func fields(ofType type: String) throws(SchemaStoreError) -> FieldDefinitions {
        if let known = self.types[type] { return known }
        let fields = try self.schemas.read { try $0.fields(ofType: type, in: self.environment) }
        self.types[type] = fields
        return fields
    }

    private mutating func isSchemaFrozen() throws(SchemaStoreError) -> Bool {
        if let isFrozen { return isFrozen }
        let isFrozen = try self.schemas.read { try $0.isSchemaFrozen(in: self.environment) }
        self.isFrozen = isFrozen
        return isFrozen
    }
}
