import RecordModel

/// The fields of one record type, as the saves so far have defined them.
package struct FieldDefinitions: Hashable, Sendable {
    private var byName: [String: FieldDefinition] = [:]
    /// Whether a record of the type may refer to others at all: most don't, and need no look at their values.
    private(set) var hasReferences = false
    /// Whether a record of the type may name assets at all.
    private(set) var hasAssets = false
    /// The fields of users with an index or among the full text, in order of their names' bytes.
    private(set) var indexed: [IndexedField] = []
    /// The numbers of the indexes on system fields.
    private(set) var systemIndexes = SystemIndexes()

    package init() {}

    /// Whether the schema has the type: then its record names have an index.
    package var isTypeDefined: Bool { self.systemIndexes.recordID != nil }

    /// A field of users, or one of `SystemField`.
    package subscript(_ field: String) -> FieldDefinition? { self.byName[field] }

    /// Every field, those of `SystemField` that have a row included.
    package var all: [String: FieldDefinition] { self.byName }

    /// Adds a field; the first definition of a name counts.
    package mutating func define(_ definition: FieldDefinition, field: String) {
        guard self.byName[field] == nil else { return }
        self.byName[field] = definition
        if let system = SystemField(rawValue: field) {
            self.systemIndexes[system] = definition.index
            return
        }
        if definition.isReference { self.hasReferences = true }
        if definition.isAsset { self.hasAssets = true }
        let isSearchable = definition.indexes.contains(.searchable)
        guard definition.index != nil || isSearchable else { return }
        let added = IndexedField(
            name: Array(field.utf8),
            type: definition.type,
            isNumber: definition.isNumber,
            index: definition.index,
            isSearchable: isSearchable
        )
        let place = self.indexed.firstIndex { added.name.lexicographicallyPrecedes($0.name) }
        self.indexed.insert(added, at: place ?? self.indexed.count)
    }

    /// The same fields, with some of their indexes only: what the builder of these has to look at.
    package func keeping(indexes: Set<Int64>) -> FieldDefinitions {
        var kept = FieldDefinitions()
        for (field, definition) in self.byName {
            var definition = definition
            if let index = definition.index, !indexes.contains(index) { definition.index = nil }
            kept.define(definition, field: field)
        }
        return kept
    }
}

/// A field of users that has entries.
struct IndexedField: Hashable, Sendable {
    let name: [UInt8]
    let type: FieldType
    let isNumber: Bool
    /// The index of its values; `nil`: only its tokens are looked for.
    let index: Int64?
    let isSearchable: Bool
}

/// The numbers of the indexes on system fields; `nil` where there is none.
struct SystemIndexes: Hashable, Sendable {
    private(set) var recordID: Int64?
    private(set) var createTime: Int64?
    private(set) var createdBy: Int64?
    private(set) var modTime: Int64?
    private(set) var modifiedBy: Int64?
    private(set) var etag: Int64?
    private(set) var parent: Int64?
    private(set) var allText: Int64?

    subscript(_ field: SystemField) -> Int64? {
        get { self[keyPath: Self.path(of: field)] }
        set { self[keyPath: Self.path(of: field)] = newValue }
    }

    private static func path(of field: SystemField) -> WritableKeyPath<Self, Int64?> {
        switch field {
        case .recordID: \.recordID
        case .createTime: \.createTime
        case .createdBy: \.createdBy
        case .modTime: \.modTime
        case .modifiedBy: \.modifiedBy
        case .etag: \.etag
        case .parent: \.parent
        case .allText: \.allText
        }
    }
}

extension FieldDefinition {
    var isReference: Bool { self.type == .reference || self.type == .referenceList }
    var isAsset: Bool { self.type == .asset || self.type == .assetList }
}
