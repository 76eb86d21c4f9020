import RecordModel
import StorageContract

extension SchemaParser {
    /// Parses the type and the indexes of the field with this name.
    mutating func type(ofField name: String) throws(SchemaError) -> FieldDeclaration {
        if self.token.isKeyword(.list) { return try self.list(ofField: name) }
        if self.token.isKeyword(.number) { return try self.number(ofField: name) }
        if self.token.isKeyword(.encrypted) {
            try self.advance()
            let type = try self.primitive(of: FieldType.encryptable, more: [])
            return FieldDeclaration(name: name, type: .field(type), isEncrypted: true)
        }
        let type = try self.primitive(of: FieldType.primitives, more: [.encrypted, .list, .number])
        return FieldDeclaration(name: name, type: .field(type))
    }

    private mutating func list(ofField name: String) throws(SchemaError) -> FieldDeclaration {
        try self.take(.list)
        try self.take(mark: "<")
        let isEncrypted = self.token.isKeyword(.encrypted)
        if isEncrypted { try self.advance() }
        let element = try self.primitive(
            of: isEncrypted ? FieldType.encryptable : FieldType.primitives,
            more: isEncrypted ? [] : [.encrypted]
        )
        try self.take(mark: ">")
        return FieldDeclaration(name: name, type: .field(element.listOfIt), isEncrypted: isEncrypted)
    }

    private mutating func number(ofField name: String) throws(SchemaError) -> FieldDeclaration {
        try self.take(.number)
        guard self.token.isKeyword(.preferred) else {
            return FieldDeclaration(name: name, type: .number(preferred: nil))
        }
        try self.advance()
        try self.take(.as)
        let preferred = try self.primitive(of: [.int64, .double], more: [])
        return FieldDeclaration(name: name, type: .number(preferred: preferred))
    }

    private mutating func primitive(
        of types: [FieldType],
        more: [SchemaKeyword]
    ) throws(SchemaError) -> FieldType {
        let spelling = self.token.keyword?.rawValue
        guard let type = types.first(where: { $0.schemaName == spelling }) else {
            throw self.unexpected((types.map(\.schemaName) + more.map(\.rawValue)).sorted())
        }
        try self.advance()
        return type
    }
}

extension FieldType {
    /// The types of the language that are no lists.
    static let primitives: [FieldType] = [
        .asset, .bytes, .double, .int64, .location, .reference, .string, .timestamp,
    ]
    static let encryptable = primitives.filter { $0 != .reference && $0 != .asset }

    /// The list type with elements of this type.
    ///
    /// A list type is its own.
    var listOfIt: FieldType {
        switch self {
        case .string: .stringList
        case .int64: .int64List
        case .double: .doubleList
        case .timestamp: .timestampList
        case .bytes: .bytesList
        case .location: .locationList
        case .reference: .referenceList
        case .asset: .assetList
        case .stringList, .int64List, .doubleList, .timestampList, .bytesList, .locationList, .referenceList,
            .assetList, .emptyList, .clear:
            self
        }
    }
}
