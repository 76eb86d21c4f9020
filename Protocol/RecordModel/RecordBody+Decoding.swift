extension RecordBody {
    /// Checks bytes that came from a peer: encoding, order, names, values and counts.
    ///
    /// - Parameters:
    ///   - bytes: What a peer says is an encoded `RecordFields`.
    ///   - allowsClear: Whether `clear` may stand for a value: in a save, not in a record.
    package init(checking bytes: [UInt8], allowsClear: Bool) throws(BodyError) {
        var cursor = FieldCursor(bytes)
        var last: Range<Int>?
        var count = 0
        while let slice = try cursor.next() {
            let name = bytes[slice.name]
            let text = String(decoding: name, as: UTF8.self)
            guard NameRules.isIdentifier(name) else { throw .fieldNameInvalid(text) }
            if let last, !bytes[last].lexicographicallyPrecedes(name) { throw .fieldOrder(text) }
            if slice.type == .clear, !allowsClear { throw .clearNotAllowed(field: text) }
            count += 1
            guard count <= Bounds.fieldsMax else { throw .tooManyFields }
            var decoder = ValueDecoder(reader: WireReader(bytes, in: slice.value), field: text)
            _ = try decoder.value(of: slice.type)
            last = slice.name
        }
        self.init(trusted: bytes)
    }

    /// The fields with their values, in order of names.
    package var fields: [Field] {
        self.slices.map { slice in
            Field(name: self.name(of: slice), value: self.value(of: slice), isEncrypted: slice.isEncrypted)
        }
    }

    /// The value of a field of this body.
    package func value(of slice: FieldSlice) -> FieldValue {
        var decoder = ValueDecoder(reader: WireReader(self.bytes, in: slice.value), field: "")
        do {
            return try decoder.value(of: slice.type)
        } catch {
            preconditionFailure("a stored record body is malformed")
        }
    }
}

/// Decodes and checks the value of one field.
private struct ValueDecoder {
    var reader: WireReader
    let field: String

    mutating func value(of type: FieldType) throws(BodyError) -> FieldValue {
        switch type {
        case .string: return .string(try self.text(self.all()))
        case .int64: return .int64(try self.reader.zigzag())
        case .double: return .double(try self.finite())
        case .timestamp: return .timestamp(try self.finite())
        case .bytes: return .bytes(Array(self.reader.slice(self.all())))
        case .location: return .location(try self.location(self.all()))
        case .reference: return .reference(try self.reference(self.all()))
        case .stringList:
            return .stringList(
                try self.list { (decoder, range) throws(BodyError) in try decoder.text(range) }
            )
        case .int64List:
            return .int64List(try self.packed { (decoder) throws(BodyError) in try decoder.reader.zigzag() })
        case .doubleList:
            return .doubleList(try self.packed { (decoder) throws(BodyError) in try decoder.finite() })
        case .timestampList:
            return .timestampList(try self.packed { (decoder) throws(BodyError) in try decoder.finite() })
        case .bytesList:
            return .bytesList(
                try self.list { (decoder, range) throws(BodyError) in Array(decoder.reader.slice(range)) }
            )
        case .locationList:
            return .locationList(
                try self.list { (decoder, range) throws(BodyError) in try decoder.location(range) }
            )
        case .referenceList:
            return .referenceList(
                try self.list { (decoder, range) throws(BodyError) in try decoder.reference(range) }
            )
        case .emptyList, .clear:
            guard try self.reader.varint() == 1 else { throw .valueInvalid(field: self.field) }
            return type == .clear ? .clear : .emptyList
        }
    }

    /// The whole of a length-delimited value.
    private func all() -> Range<Int> {
        self.reader.remaining
    }

    private func text(_ range: Range<Int>) throws(BodyError) -> String {
        guard let text = String(validating: self.reader.slice(range), as: UTF8.self) else {
            throw .valueInvalid(field: self.field)
        }
        return text
    }

    private mutating func finite() throws(BodyError) -> Double {
        let number = try self.reader.double()
        guard number.isFinite else { throw .valueInvalid(field: self.field) }
        return number
    }

    /// `repeated` of length-delimited elements, number 1.
    private mutating func list<Element>(
        _ element: (ValueDecoder, Range<Int>) throws(BodyError) -> Element
    ) throws(BodyError) -> [Element] {
        var elements: [Element] = []
        while !self.reader.isAtEnd {
            guard try self.reader.varint() == 0x0A else { throw .malformed }
            guard elements.count < Bounds.listElementsMax else { throw .tooManyElements(field: self.field) }
            elements.append(try element(self, try self.reader.delimited()))
        }
        return elements
    }

    /// `repeated` of packed numbers, number 1.
    private mutating func packed<Element>(
        _ element: (inout ValueDecoder) throws(BodyError) -> Element
    ) throws(BodyError) -> [Element] {
        guard !self.reader.isAtEnd else { return [] }
        guard try self.reader.varint() == 0x0A else { throw .malformed }
        var decoder = ValueDecoder(
            reader: self.reader.reader(in: try self.reader.delimited()),
            field: self.field
        )
        guard self.reader.isAtEnd, !decoder.reader.isAtEnd else { throw .malformed }
        var elements: [Element] = []
        while !decoder.reader.isAtEnd {
            guard elements.count < Bounds.listElementsMax else { throw .tooManyElements(field: self.field) }
            elements.append(try element(&decoder))
        }
        return elements
    }

    private func location(_ range: Range<Int>) throws(BodyError) -> Location {
        var reader = self.reader.reader(in: range)
        var location = Location(latitude: 0, longitude: 0)
        var last: UInt64 = 0
        while !reader.isAtEnd {
            let tag = try reader.varint()
            guard tag > last, tag & 7 == 1, let number = LocationNumber(rawValue: tag >> 3) else {
                throw .malformed
            }
            let value = try reader.double()
            guard value.isFinite, value.bitPattern != 0 else { throw .valueInvalid(field: self.field) }
            location[keyPath: number.property] = value
            last = tag
        }
        guard abs(location.latitude) <= 90, abs(location.longitude) <= 180 else {
            throw .valueInvalid(field: self.field)
        }
        return location
    }

    private func reference(_ range: Range<Int>) throws(BodyError) -> Reference {
        var reader = self.reader.reader(in: range)
        var reference = Reference(recordName: "", action: .none)
        var last: UInt64 = 0
        while !reader.isAtEnd {
            let tag = try reader.varint()
            guard tag > last else { throw .malformed }
            switch tag {
            case 0x0A: reference.recordName = try self.text(try reader.delimited())
            case 0x12: reference.zone = try self.zone(try reader.delimited())
            case 0x18:
                let action = try reader.varint()
                guard action > 0, action < 3 else { throw .valueInvalid(field: self.field) }
                reference.action = Reference.Action(rawValue: UInt8(action))!
            default: throw .malformed
            }
            last = tag
        }
        guard NameRules.isItemName(reference.recordName) || NameRules.isUserRecordName(reference.recordName)
        else {
            throw .valueInvalid(field: self.field)
        }
        return reference
    }

    private func zone(_ range: Range<Int>) throws(BodyError) -> ZoneID {
        var reader = self.reader.reader(in: range)
        var zone = ZoneID(zoneName: "")
        var last: UInt64 = 0
        while !reader.isAtEnd {
            let tag = try reader.varint()
            guard tag > last else { throw .malformed }
            switch tag {
            case 0x0A: zone.zoneName = try self.text(try reader.delimited())
            case 0x12: zone.ownerName = try self.text(try reader.delimited())
            default: throw .malformed
            }
            last = tag
        }
        return zone
    }
}

/// Numbers of the `Location` message in the `.proto`.
enum LocationNumber: UInt64, CaseIterable {
    case latitude = 1
    case longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed, timestamp

    var property: WritableKeyPath<Location, Double> {
        switch self {
        case .latitude: \.latitude
        case .longitude: \.longitude
        case .altitude: \.altitude
        case .horizontalAccuracy: \.horizontalAccuracy
        case .verticalAccuracy: \.verticalAccuracy
        case .course: \.course
        case .speed: \.speed
        case .timestamp: \.timestamp
        }
    }
}
