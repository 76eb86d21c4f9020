/// Walks the fields of an encoded body from front to back.
package struct FieldCursor {
    private var walk: FieldWalk

    package init(_ bytes: [UInt8]) {
        self.walk = FieldWalk(bytes)
    }

    /// Returns the next field of a body that was checked before, or `nil` at the end.
    package mutating func nextTrusted() -> FieldSlice? {
        do {
            return try self.walk.next()
        } catch {
            preconditionFailure("a stored record body is malformed")
        }
    }
}

/// Walks the fields of bytes that came from a peer.
struct FieldWalk {
    private var reader: WireReader

    init(_ bytes: [UInt8]) {
        self.reader = WireReader(bytes)
    }

    /// Returns the next field, or `nil` at the end.
    ///
    /// Checks the structure of the field, but not its name or value.
    mutating func next() throws(BodyError) -> FieldSlice? {
        guard !self.reader.isAtEnd else { return nil }
        let start = self.reader.position
        guard try self.reader.varint() == 0x0A else { throw .malformed }
        let outer = try self.reader.enter()
        guard try self.reader.varint() == 0x0A else { throw .malformed }
        let name = try self.reader.delimited()
        var tag = try self.reader.varint()
        let isEncrypted = tag == 0x10
        if isEncrypted {
            guard try self.reader.varint() == 1 else { throw .malformed }
            tag = try self.reader.varint()
        }
        guard tag < 0x800, let type = FieldType(rawValue: UInt8(tag >> 3)), type.wireType == UInt8(tag & 7)
        else {
            throw .malformed
        }
        let value = try self.reader.value(ofWireType: type.wireType)
        try self.reader.leave(to: outer)
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
    /// 0 for a variable-length integer, 1 for eight bytes, 2 for length-delimited.
    var wireType: UInt8 {
        switch self {
        case .int64, .emptyList, .clear: 0
        case .double, .timestamp: 1
        case .string, .bytes, .location, .reference, .asset: 2
        case .stringList, .int64List, .doubleList, .timestampList, .bytesList, .locationList, .referenceList,
            .assetList:
            2
        }
    }
}
