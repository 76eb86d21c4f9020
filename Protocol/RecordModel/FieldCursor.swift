/// Iterates over the fields of an encoded body.
package struct FieldCursor {
    private let bytes: [UInt8]
    private var position = 0
    /// Whether the iteration ended at bytes that are no field.
    package private(set) var isDamaged = false

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the next field, or `nil` at the end.
    ///
    /// A body was checked before it was stored, but a failing disk may return other bytes. The
    /// iteration ends there: one damaged record must not crash a server.
    package mutating func nextTrusted() -> FieldSlice? {
        var walk = FieldWalk(self.bytes.span, at: self.position)
        do {
            let slice = try walk.next()
            self.position = slice?.entry.upperBound ?? self.position
            return slice
        } catch {
            self.position = self.bytes.count
            self.isDamaged = true
            return nil
        }
    }
}

/// Iterates over the fields of bytes from a peer.
struct FieldWalk: ~Escapable {
    private var reader: BodyReader

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, at position: Int = 0) {
        self.reader = BodyReader(bytes, in: position..<bytes.count)
    }

    /// Returns the next field, or `nil` at the end.
    ///
    /// Checks the structure of the field, but not its name or value.
    mutating func next() throws(BodyError) -> FieldSlice? {
        guard !self.reader.isAtEnd else { return nil }
        let start = self.reader.position
        try self.reader.expect(Proto.RecordFields.fields)
        var reader = try self.reader.message()
        try reader.expect(Proto.Field.name)
        let name = try reader.delimited()
        var field = try reader.next(Proto.Field.self)
        let isEncrypted = field == .encrypted
        if isEncrypted {
            guard try reader.varint() == 1 else { throw .malformed }
            field = try reader.next(Proto.Field.self)
        }
        guard let field, let type = FieldType(field) else { throw .malformed }
        let value = try reader.value(ofTag: field.tag)
        try reader.finish()
        return FieldSlice(
            entry: start..<self.reader.position,
            name: name,
            isEncrypted: isEncrypted,
            type: type,
            value: value
        )
    }
}

extension FieldType {
    /// `nil` for a field that is not a value.
    fileprivate init?(_ field: Proto.Field) {
        switch field {
        case .name, .encrypted: return nil
        case .string: self = .string
        case .int64: self = .int64
        case .double: self = .double
        case .timestamp: self = .timestamp
        case .bytes: self = .bytes
        case .location: self = .location
        case .reference: self = .reference
        case .asset: self = .asset
        case .stringList: self = .stringList
        case .int64List: self = .int64List
        case .doubleList: self = .doubleList
        case .timestampList: self = .timestampList
        case .bytesList: self = .bytesList
        case .locationList: self = .locationList
        case .referenceList: self = .referenceList
        case .assetList: self = .assetList
        case .emptyList: self = .emptyList
        case .clear: self = .clear
        }
    }

    /// The field of the value.
    var field: Proto.Field {
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
