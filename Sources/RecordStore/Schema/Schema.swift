package import RecordModel
package import StorageContract

/// Validates the fields of a save against the definitions, and returns those that the save adds.
package enum Schema {
    /// Returns the definitions that a save needs and that are missing.
    ///
    /// `defined` has the definitions of the record type, including those of earlier items of the
    /// request.
    package static func definitions(
        neededFor changes: RecordBody,
        ofType recordType: String,
        given defined: FieldDefinitions,
        scope: DatabaseScope
    ) throws(StoreError) -> [String: FieldDefinition] {
        var needed: [String: FieldDefinition] = [:]
        var cursor = FieldCursor(changes.bytes)
        while let slice = cursor.nextTrusted() {
            guard slice.type != .clear else { continue }
            let name = changes.name(of: slice)
            if slice.isEncrypted, scope == .public || !self.mayBeEncrypted(slice.type) {
                throw .fieldEncryptionNotAllowed(field: name)
            }
            guard let definition = defined[name] else {
                if slice.type != .emptyList {
                    needed[name] = FieldDefinition(
                        type: slice.type,
                        isEncrypted: slice.isEncrypted,
                        indexes: self.marks(of: slice, ofType: recordType)
                    )
                }
                continue
            }
            guard self.agrees(slice.type, with: definition) else {
                throw .fieldTypeMismatch(
                    recordType: recordType,
                    field: name,
                    given: slice.type,
                    defined: definition.type
                )
            }
            // An empty list has no flag, so it determines nothing about encryption.
            if slice.type != .emptyList, slice.isEncrypted != definition.isEncrypted {
                throw .fieldEncryptionMismatch(field: name)
            }
        }
        return needed
    }

    /// User records cannot be queried.
    private static func marks(of slice: FieldSlice, ofType recordType: String) -> IndexKinds {
        guard recordType != UserRecord.type else { return [] }
        return .justInTime(for: slice.type, isEncrypted: slice.isEncrypted)
    }

    private static func agrees(_ given: FieldType, with defined: FieldDefinition) -> Bool {
        if defined.isNumber, given == .int64 { return true }
        return given == defined.type || (given == .emptyList && defined.type.isList)
    }

    private static func mayBeEncrypted(_ type: FieldType) -> Bool {
        switch type {
        case .reference, .referenceList, .asset, .assetList, .emptyList: false
        case .string, .int64, .double, .timestamp, .bytes, .location, .stringList, .int64List, .doubleList,
            .timestampList, .bytesList, .locationList, .clear:
            true
        }
    }
}
