extension RecordBody {
    /// The fields with their values, in order of names.
    package var fields: [Field] {
        var fields: [Field] = []
        var cursor = FieldCursor(self.bytes)
        var values = ValueReader(self.bytes)
        while let slice = cursor.nextTrusted() {
            fields.append(
                Field(
                    name: self.name(of: slice),
                    value: values.value(of: slice),
                    isEncrypted: slice.isEncrypted
                )
            )
        }
        return fields
    }

    /// The value of a field of this body.
    package func value(of slice: FieldSlice) -> FieldValue {
        var values = ValueReader(self.bytes)
        return values.value(of: slice)
    }
}

/// Reads values of a body that was checked or encoded by this module.
private struct ValueReader {
    private var reader: WireReader

    init(_ bytes: [UInt8]) {
        self.reader = WireReader(bytes)
    }

    mutating func value(of slice: FieldSlice) -> FieldValue {
        do {
            return try self.read(slice)
        } catch {
            preconditionFailure("a stored record body is malformed")
        }
    }

    private mutating func read(_ slice: FieldSlice) throws(BodyError) -> FieldValue {
        self.reader.start(in: slice.value)
        switch slice.type {
        case .string: return .string(self.text(slice.value))
        case .int64: return .int64(try self.reader.zigzag())
        case .double: return .double(try self.reader.double())
        case .timestamp: return .timestamp(try self.reader.double())
        case .bytes: return .bytes(Array(self.reader.bytes[slice.value]))
        case .location: return .location(try self.location())
        case .reference: return .reference(try self.reference())
        case .asset: return .asset(try self.asset())
        case .stringList: return .stringList(try self.elements { (reader, range) in reader.text(range) })
        case .bytesList:
            return .bytesList(try self.elements { (reader, range) in Array(reader.reader.bytes[range]) })
        case .int64List:
            return .int64List(
                try self.numbers { (reader) throws(BodyError) in try reader.reader.zigzag() }
            )
        case .doubleList: return .doubleList(try self.doubles())
        case .timestampList: return .timestampList(try self.doubles())
        case .locationList:
            return .locationList(
                try self.messages { (reader) throws(BodyError) in try reader.location() }
            )
        case .referenceList:
            return .referenceList(
                try self.messages { (reader) throws(BodyError) in try reader.reference() }
            )
        case .assetList:
            return .assetList(
                try self.messages { (reader) throws(BodyError) in try reader.asset() }
            )
        case .emptyList: return .emptyList
        case .clear: return .clear
        }
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: self.reader.bytes[range], as: UTF8.self)
    }

    private mutating func elements<Element>(
        _ element: (ValueReader, Range<Int>) -> Element
    ) throws(BodyError) -> [Element] {
        var elements: [Element] = []
        while !self.reader.isAtEnd {
            _ = try self.reader.varint()
            elements.append(element(self, try self.reader.delimited()))
        }
        return elements
    }

    private mutating func messages<Element>(
        _ element: (inout ValueReader) throws(BodyError) -> Element
    ) throws(BodyError) -> [Element] {
        var elements: [Element] = []
        while !self.reader.isAtEnd {
            _ = try self.reader.varint()
            let outer = try self.reader.enter()
            elements.append(try element(&self))
            try self.reader.leave(to: outer)
        }
        return elements
    }

    private mutating func doubles() throws(BodyError) -> [Double] {
        try self.numbers { (reader) throws(BodyError) in try reader.reader.double() }
    }

    private mutating func numbers<Element>(
        _ element: (inout ValueReader) throws(BodyError) -> Element
    ) throws(BodyError) -> [Element] {
        guard !self.reader.isAtEnd else { return [] }
        _ = try self.reader.varint()
        var elements: [Element] = []
        let outer = try self.reader.enter()
        while !self.reader.isAtEnd { elements.append(try element(&self)) }
        try self.reader.leave(to: outer)
        return elements
    }

    private mutating func location() throws(BodyError) -> Location {
        var location = Location(latitude: 0, longitude: 0)
        while !self.reader.isAtEnd {
            guard let number = LocationNumber(rawValue: try self.reader.varint() >> 3) else {
                throw .malformed
            }
            location[keyPath: number.property] = try self.reader.double()
        }
        return location
    }

    private mutating func reference() throws(BodyError) -> Reference {
        var reference = Reference(recordName: "", action: .none)
        while !self.reader.isAtEnd {
            switch try self.reader.varint() {
            case 0x0A: reference.recordName = self.text(try self.reader.delimited())
            case 0x12: reference.zone = try self.zone()
            default:
                let number = UInt8(truncatingIfNeeded: try self.reader.varint())
                guard let action = Reference.Action(rawValue: number) else { throw .malformed }
                reference.action = action
            }
        }
        return reference
    }

    private mutating func asset() throws(BodyError) -> Asset {
        var asset = Asset(sha256: [], size: 0)
        while !self.reader.isAtEnd {
            if try self.reader.varint() == 0x0A {
                asset.sha256 = Array(self.reader.bytes[try self.reader.delimited()])
            } else {
                asset.size = Int64(clamping: try self.reader.varint())
            }
        }
        return asset
    }

    private mutating func zone() throws(BodyError) -> ZoneID {
        var zone = ZoneID(zoneName: "")
        let outer = try self.reader.enter()
        while !self.reader.isAtEnd {
            let tag = try self.reader.varint()
            let name = self.text(try self.reader.delimited())
            if tag == 0x0A { zone.zoneName = name } else { zone.ownerName = name }
        }
        try self.reader.leave(to: outer)
        return zone
    }
}
