extension RecordBody {
    /// The fields with their values, in order of names.
    package var fields: [Field] {
        var fields: [Field] = []
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() {
            fields.append(
                Field(
                    name: self.name(of: slice),
                    value: self.value(of: slice),
                    isEncrypted: slice.isEncrypted
                )
            )
        }
        return fields
    }

    /// The value of a field of this body; `clear` if the value is damaged.
    package func value(of slice: FieldSlice) -> FieldValue {
        var reader = BodyReader(self.bytes.span, in: slice.value)
        do {
            return try reader.fieldValue(slice.type)
        } catch {
            return .clear
        }
    }

    /// Whether every field can be read: always, unless the disk has damaged the body.
    ///
    /// Texts are not checked, and no list of numbers is built.
    package var isIntact: Bool {
        var walk = FieldWalk(self.bytes.span)
        var last: Range<Int>?
        do {
            while let slice = try walk.next() {
                if let last, Self.order(self.bytes, last, self.bytes, slice.name) >= 0 { return false }
                last = slice.name
                var reader = BodyReader(self.bytes.span, in: slice.value)
                try reader.skim(slice.type)
            }
            return true
        } catch {
            return false
        }
    }

    /// This body with only the fields in `keys`; `nil` if it is damaged.
    package func intact(keeping keys: Set<String>) -> RecordBody? {
        var kept: [UInt8] = []
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() {
            if keys.contains(self.name(of: slice)) { kept += self.bytes[slice.entry] }
        }
        return cursor.isDamaged ? nil : RecordBody(trusted: kept)
    }
}

// Reads values of a body that this module has checked or encoded.
extension BodyReader {
    /// Fails where `fieldValue` would, and at a non-finite number, which no check accepts.
    fileprivate mutating func skim(_ type: FieldType) throws(BodyError) {
        switch type {
        case .string, .bytes, .emptyList, .clear: break
        case .int64: _ = try self.zigzag()
        case .double, .timestamp: try self.skimDouble()
        case .stringList, .bytesList:
            while !self.isAtEnd {
                _ = try self.varint()
                _ = try self.delimited()
            }
        case .int64List, .doubleList, .timestampList:
            guard !self.isAtEnd else { return }
            _ = try self.varint()
            var numbers = try self.message()
            while !numbers.isAtEnd {
                if type == .int64List { _ = try numbers.varint() } else { try numbers.skimDouble() }
            }
        case .location, .reference, .asset, .locationList, .referenceList, .assetList:
            _ = try self.fieldValue(type)
        }
    }

    private mutating func skimDouble() throws(BodyError) {
        guard try self.double().isFinite else { throw .malformed }
    }

    fileprivate mutating func fieldValue(_ type: FieldType) throws(BodyError) -> FieldValue {
        switch type {
        case .string: return .string(self.bytes.repairedText(self.rest))
        case .int64: return .int64(try self.zigzag())
        case .double: return .double(try self.double())
        case .timestamp: return .timestamp(try self.double())
        case .bytes: return .bytes(self.bytes.copied(self.rest))
        case .location: return .location(try self.location())
        case .reference: return .reference(try self.reference())
        case .asset: return .asset(try self.asset())
        case .stringList:
            return .stringList(try self.elements { (reader) in reader.bytes.repairedText(reader.rest) })
        case .bytesList:
            return .bytesList(try self.elements { (reader) in reader.bytes.copied(reader.rest) })
        case .int64List:
            return .int64List(try self.numbers { (reader) throws(BodyError) in try reader.zigzag() })
        case .doubleList: return .doubleList(try self.doubles())
        case .timestampList: return .timestampList(try self.doubles())
        case .locationList:
            return .locationList(try self.elements { (reader) throws(BodyError) in try reader.location() })
        case .referenceList:
            return .referenceList(try self.elements { (reader) throws(BodyError) in try reader.reference() })
        case .assetList:
            return .assetList(try self.elements { (reader) throws(BodyError) in try reader.asset() })
        case .emptyList: return .emptyList
        case .clear: return .clear
        }
    }

    /// The elements of a list, each after a tag and a length.
    private mutating func elements<Element>(
        _ element: (inout BodyReader) throws(BodyError) -> Element
    ) throws(BodyError) -> [Element] {
        var elements: [Element] = []
        while !self.isAtEnd {
            _ = try self.varint()
            var reader = try self.message()
            elements.append(try element(&reader))
        }
        return elements
    }

    private mutating func doubles() throws(BodyError) -> [Double] {
        try self.numbers { (reader) throws(BodyError) in try reader.double() }
    }

    /// The elements of a list of numbers, all after one tag and one length.
    private mutating func numbers<Element>(
        _ element: (inout BodyReader) throws(BodyError) -> Element
    ) throws(BodyError) -> [Element] {
        guard !self.isAtEnd else { return [] }
        _ = try self.varint()
        var elements: [Element] = []
        var reader = try self.message()
        while !reader.isAtEnd { elements.append(try element(&reader)) }
        return elements
    }

    private mutating func location() throws(BodyError) -> Location {
        var location = Location(latitude: 0, longitude: 0)
        while let field = try self.next(Proto.Location.self) {
            location[keyPath: field.property] = try self.double()
        }
        return location
    }

    private mutating func reference() throws(BodyError) -> Reference {
        var reference = Reference(recordName: "", action: .none)
        while let field = try self.next(Proto.Reference.self) {
            switch field {
            case .recordName: reference.recordName = try self.text()
            case .zone: reference.zone = try self.zone()
            case .action:
                let number = UInt8(truncatingIfNeeded: try self.varint())
                guard let action = Reference.Action(rawValue: number) else { throw .malformed }
                reference.action = action
            }
        }
        return reference
    }

    private mutating func asset() throws(BodyError) -> Asset {
        var asset = Asset(sha256: [], size: 0)
        while let field = try self.next(Proto.Asset.self) {
            switch field {
            case .sha256: asset.sha256 = self.bytes.copied(try self.delimited())
            case .size: asset.size = Int64(clamping: try self.varint())
            }
        }
        return asset
    }

    private mutating func zone() throws(BodyError) -> ZoneID {
        var zone = ZoneID(zoneName: "")
        var reader = try self.message()
        while let field = try reader.next(Proto.ZoneID.self) {
            switch field {
            case .zoneName: zone.zoneName = try reader.text()
            case .ownerName: zone.ownerName = try reader.text()
            }
        }
        return zone
    }

    private mutating func text() throws(BodyError) -> String {
        self.bytes.repairedText(try self.delimited())
    }
}
