extension RecordBody {
    /// Encodes fields, and sorts them by name.
    ///
    /// Of two fields with the same name, the last is used. Nothing is checked: a server refuses a
    /// body that breaks a rule.
    package init(_ fields: some Sequence<Field>) {
        var byName: [String: Field] = [:]
        for field in fields { byName[field.name] = field }
        let ordered = byName.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        var writer = BodyWriter(byteCount: 0)
        for field in ordered { writer.append(field.name, field.value, isEncrypted: field.isEncrypted) }
        self = writer.body
    }
}

/// Writes a body, field by field, in ascending order of the names' bytes.
package struct BodyWriter {
    private var writer = WireWriter()

    package init(byteCount: Int) { self.writer.reserveCapacity(byteCount) }

    package var body: RecordBody { RecordBody(trusted: self.writer.bytes) }

    package mutating func append(_ name: String, _ value: FieldValue, isEncrypted: Bool) {
        self.writer.writeField(name, value, isEncrypted: isEncrypted)
    }

    package mutating func append(_ slice: FieldSlice, of body: RecordBody) {
        self.writer.put(body.bytes.span.extracting(slice.entry))
    }
}

extension FieldValue {
    package var type: FieldType {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .location: .location
        case .reference: .reference
        case .asset: .asset
        case .stringList: .stringList
        case .int64List: .int64List
        case .doubleList: .doubleList
        case .timestampList: .timestampList
        case .bytesList: .bytesList
        case .locationList: .locationList
        case .referenceList: .referenceList
        case .assetList: .assetList
        case .emptyList: .emptyList
        case .clear: .clear
        }
    }
}
