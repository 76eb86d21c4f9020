package import RecordModel

/// What the first save of a field settled for all records of the type in the environment.
package struct FieldDefinition: Hashable, Sendable {
    package var type: FieldType
    /// Whether integers are values of the field beside doubles, in one order with them: a `NUMBER` of a schema.
    package var isNumber: Bool
    package var isEncrypted: Bool
    /// What a query may ask of it.
    package var indexes: IndexKinds
    /// The number under which its values are in the index; `nil`: they are in none.
    ///
    /// An engine gives it when the field is defined; it has nothing to do with the field's name or place.
    package var index: Int64?

    package init(
        type: FieldType,
        isNumber: Bool = false,
        isEncrypted: Bool,
        indexes: IndexKinds = [],
        index: Int64? = nil
    ) {
        self.type = type
        self.isNumber = isNumber
        self.isEncrypted = isEncrypted
        self.indexes = indexes
        self.index = index
    }
}

/// Judges the fields of a save against what is defined, and says what the save would define.
package enum Schema {
    /// What has to be defined with a save.
    ///
    /// `defined` holds the definitions of the record type, those of earlier items of the request included.
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
            // An empty list carries no flag, so it says nothing about encryption.
            if slice.type != .emptyList, slice.isEncrypted != definition.isEncrypted {
                throw .fieldEncryptionMismatch(field: name)
            }
        }
        return needed
    }

    /// User records are not for queries.
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
