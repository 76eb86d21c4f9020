package import RecordModel

/// The fields of one record type, as the saves so far have defined them.
package struct FieldDefinitions: Hashable, Sendable {
    private var byName: [String: FieldDefinition] = [:]
    /// Whether a record of the type may refer to others at all: most do not, so their values are
    /// not read.
    package private(set) var hasReferences = false
    /// Whether a record of the type may name assets at all.
    package private(set) var hasAssets = false
    /// The fields of users with an index or among the full text, in order of their names' bytes.
    package private(set) var indexed: [IndexedField] = []
    /// The numbers of the indexes on system fields.
    package private(set) var systemIndexes = SystemIndexes()
    /// Fields that are not of the system.
    package private(set) var userFieldCount = 0

    package init() {}

    /// Whether the schema has the type: then its record names have an index.
    package var isTypeDefined: Bool { self.systemIndexes.recordID != nil }

    /// A field of users, or one of `SystemField`.
    package subscript(_ field: String) -> FieldDefinition? { self.byName[field] }

    /// Every field, those of `SystemField` that have a row included.
    package var all: [String: FieldDefinition] { self.byName }

    /// Adds a field; the first definition of a name counts.
    package mutating func define(_ definition: FieldDefinition, field: String) {
        self.define(CollectionOfOne((key: field, value: definition)))
    }

    /// Adds fields; the first definition of a name counts.
    ///
    /// Many are put in order together: one by one, a type that is loaded would cost the square of its fields.
    package mutating func define(_ fields: some Sequence<(key: String, value: FieldDefinition)>) {
        var added: [IndexedField] = []
        for (field, definition) in fields where self.byName[field] == nil {
            self.byName[field] = definition
            if let system = SystemField(rawValue: field) {
                self.systemIndexes[system] = definition.index
                continue
            }
            self.userFieldCount += 1
            if definition.isReference { self.hasReferences = true }
            if definition.isAsset { self.hasAssets = true }
            if let indexed = IndexedField(definition, field: field) { added.append(indexed) }
        }
        if added.count == 1 {
            self.indexed.insert(added[0], at: self.offset(of: added[0].name))
        } else if !added.isEmpty {
            self.indexed += added
            self.indexed.sort { $0.name.lexicographicallyPrecedes($1.name) }
        }
    }

    /// The offset at which an indexed field of this name belongs.
    private func offset(of name: [UInt8]) -> Int {
        var (low, high) = (0, self.indexed.count)
        while low < high {
            let middle = (low + high) / 2
            if self.indexed[middle].name.lexicographicallyPrecedes(name) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// The same fields, with some of their indexes only, for the builder of these indexes.
    package func keeping(indexes: Set<Int64>) -> FieldDefinitions {
        var kept = FieldDefinitions()
        kept.define(
            self.byName.mapValues { definition in
                var definition = definition
                if let index = definition.index, !indexes.contains(index) { definition.index = nil }
                return definition
            }
        )
        return kept
    }
}

/// A field of users that has entries.
package struct IndexedField: Hashable, Sendable {
    package let name: [UInt8]
    package let type: FieldType
    package let isNumber: Bool
    /// The index of its values; `nil` if only its tokens are looked for.
    package let index: Int64?
    package let isSearchable: Bool

    /// `nil` if no value of the field has an entry.
    init?(_ definition: FieldDefinition, field: String) {
        self.isSearchable = definition.indexes.contains(.searchable)
        guard definition.index != nil || self.isSearchable else { return nil }
        self.name = Array(field.utf8)
        self.type = definition.type
        self.isNumber = definition.isNumber
        self.index = definition.index
    }
}

/// The numbers of the indexes on system fields; `nil` where there is none.
package struct SystemIndexes: Hashable, Sendable {
    package private(set) var recordID: Int64?
    package private(set) var createTime: Int64?
    package private(set) var createdBy: Int64?
    package private(set) var modTime: Int64?
    package private(set) var modifiedBy: Int64?
    package private(set) var etag: Int64?
    package private(set) var parent: Int64?
    package private(set) var allText: Int64?

    package subscript(_ field: SystemField) -> Int64? {
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
    package var isReference: Bool { self.type == .reference || self.type == .referenceList }
    package var isAsset: Bool { self.type == .asset || self.type == .assetList }
}
