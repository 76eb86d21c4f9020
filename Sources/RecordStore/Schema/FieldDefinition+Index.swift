import RecordModel
package import StorageContract

extension FieldDefinition {
    /// The full text of a type: made with its first searchable field.
    package static let allText = FieldDefinition(
        type: SystemField.allText.type,
        isEncrypted: false,
        indexes: .searchable
    )

    /// Whether values of the field have entries, given its marks.
    ///
    /// Record names and parents always have: a listing of every type, and the children of a record.
    package func needsIndex(_ field: String) -> Bool {
        switch SystemField(rawValue: field) {
        case .recordID, .parent: true
        case .allText: self.indexes.contains(.searchable)
        case .createTime, .createdBy, .modTime, .modifiedBy, .etag, nil:
            !self.indexes.isDisjoint(with: [.queryable, .sortable])
        }
    }
}
