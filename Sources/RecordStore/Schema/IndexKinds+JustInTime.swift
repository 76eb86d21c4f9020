package import RecordModel
package import StorageContract

extension IndexKinds {
    /// The indexes of an undeclared field, as a first save in *development* defines it.
    package static func justInTime(for type: FieldType, isEncrypted: Bool) -> IndexKinds {
        guard !isEncrypted else { return [] }
        return switch type {
        case .string: [.queryable, .sortable, .searchable]
        case .int64, .double, .timestamp, .location: [.queryable, .sortable]
        case .reference, .stringList, .int64List, .doubleList, .timestampList, .locationList, .referenceList:
            [.queryable]
        case .bytes, .bytesList, .asset, .assetList, .emptyList, .clear: []
        }
    }

    /// The indexes of a system field of an undeclared type.
    ///
    /// The modification date has none, because each save would replace its entry.
    package static func justInTime(for field: SystemField) -> IndexKinds {
        switch field {
        case .recordID, .parent: [.queryable]
        case .createTime: [.queryable, .sortable]
        case .modTime, .createdBy, .modifiedBy, .etag, .allText: []
        }
    }
}
