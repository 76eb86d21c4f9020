import RecordModel
import StorageContract

/// Additions of a request's saves to a schema that is not frozen.
extension SchemaWriting {
    /// Defines fields of a type that were never saved before, each with an index if its marks ask
    /// for one, and the type itself if it is new: with the system fields and the grants of a first
    /// save.
    ///
    /// Every new index is complete: no record has a value in it yet.
    ///
    /// Fields that the type has, which are among those known, stay as they are.
    func add(
        _ fields: [String: FieldDefinition],
        toType name: String,
        isNew: Bool,
        known: FieldDefinitions
    ) throws(StorageFailure) {
        var added = fields.filter { known[$0.key] == nil }
        let type = try self.typeNumber(name)
        if isNew, !known.isTypeDefined {
            for field in [SystemField.recordID, .createTime, .parent] {
                added[field.rawValue] = FieldDefinition(
                    type: field.type,
                    isEncrypted: false,
                    indexes: .justInTime(for: field)
                )
            }
            for grant in SchemaRules.defaultGrants { try self.write(grant, of: type) }
        }
        let allText = SystemField.allText.rawValue
        if known[allText] == nil, added.values.contains(where: { $0.indexes.contains(.searchable) }) {
            added[allText] = .allText
        }
        let indexes = added.count { $0.value.needsIndex($0.key) }
        var nextIndex = indexes > 0 ? try self.rows.takeIndexNumbers(indexes) : 0
        var rows: [FieldRow] = []
        rows.reserveCapacity(added.count)
        for (field, definition) in added.sorted(by: { $0.key < $1.key }) {
            var row = FieldRow(definition, named: field, of: type)
            if definition.needsIndex(field) {
                row.index = nextIndex
                nextIndex += 1
            }
            rows.append(row)
        }
        _ = try self.rows.insert(contentsOf: rows)
    }
}
