package import RecordModel

extension IndexKinds {
    /// The marks of a field that nobody declared: those of a first save in *development*.
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

    /// The marks of a system field of a type that nobody declared.
    ///
    /// The date of the last change has none: each save would take its entry away and add another.
    package static func justInTime(for field: SystemField) -> IndexKinds {
        switch field {
        case .recordID, .parent: [.queryable]
        case .createTime: [.queryable, .sortable]
        case .modTime, .createdBy, .modifiedBy, .etag, .allText: []
        }
    }
}
