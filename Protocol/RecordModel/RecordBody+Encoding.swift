extension RecordBody {
    /// Encodes fields; sorts them by name. Of two with one name the last counts.
    package init(_ fields: some Sequence<Field>) {
        var byName: [String: Field] = [:]
        for field in fields { byName[field.name] = field }
        let ordered = byName.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        var writer = WireWriter()
        for field in ordered { writer.field(field) }
        self.init(trusted: writer.bytes)
    }
}

/// Writes the Protocol Buffers wire format in the one encoding that bodies permit.
private struct WireWriter {
    var bytes: [UInt8] = []

    mutating func field(_ field: Field) {
        var inner = WireWriter()
        inner.text(number: 1, field.name)
        if field.isEncrypted { inner.bytes += [0x10, 0x01] }
        inner.value(field.value)
        self.delimited(number: 1, inner.bytes)
    }

    private mutating func value(_ value: FieldValue) {
        let number = value.type.rawValue
        switch value {
        case .string(let string): self.text(number: number, string)
        case .int64(let integer):
            self.tag(number: number, wireType: 0)
            self.zigzag(integer)
        case .double(let double), .timestamp(let double):
            self.tag(number: number, wireType: 1)
            self.double(double)
        case .bytes(let bytes): self.delimited(number: number, bytes)
        case .location(let location): self.delimited(number: number, Self.encoded(location))
        case .reference(let reference): self.delimited(number: number, Self.encoded(reference))
        case .stringList(let strings): self.list(number: number, strings) { $0.text(number: 1, $1) }
        case .int64List(let integers): self.packed(number: number, integers) { $0.zigzag($1) }
        case .doubleList(let doubles), .timestampList(let doubles):
            self.packed(number: number, doubles) { $0.double($1) }
        case .bytesList(let list): self.list(number: number, list) { $0.delimited(number: 1, $1) }
        case .locationList(let locations):
            self.list(number: number, locations) { $0.delimited(number: 1, Self.encoded($1)) }
        case .referenceList(let references):
            self.list(number: number, references) { $0.delimited(number: 1, Self.encoded($1)) }
        case .emptyList, .clear:
            self.tag(number: number, wireType: 0)
            self.varint(1)
        }
    }

    private static func encoded(_ location: Location) -> [UInt8] {
        var writer = WireWriter()
        for number in LocationNumber.allCases {
            let value = location[keyPath: number.property]
            guard value.bitPattern != 0 else { continue }
            writer.tag(number: UInt8(number.rawValue), wireType: 1)
            writer.double(value)
        }
        return writer.bytes
    }

    private static func encoded(_ reference: Reference) -> [UInt8] {
        var writer = WireWriter()
        writer.text(number: 1, reference.recordName)
        if let zone = reference.zone {
            var inner = WireWriter()
            if !zone.zoneName.isEmpty { inner.text(number: 1, zone.zoneName) }
            if !zone.ownerName.isEmpty { inner.text(number: 2, zone.ownerName) }
            writer.delimited(number: 2, inner.bytes)
        }
        if reference.action != .none {
            writer.tag(number: 3, wireType: 0)
            writer.varint(UInt64(reference.action.rawValue))
        }
        return writer.bytes
    }

    private mutating func list<Element>(
        number: UInt8,
        _ elements: [Element],
        _ write: (inout WireWriter, Element) -> Void
    ) {
        var inner = WireWriter()
        for element in elements { write(&inner, element) }
        self.delimited(number: number, inner.bytes)
    }

    private mutating func packed<Element>(
        number: UInt8,
        _ elements: [Element],
        _ write: (inout WireWriter, Element) -> Void
    ) {
        var inner = WireWriter()
        for element in elements { write(&inner, element) }
        var outer = WireWriter()
        if !elements.isEmpty { outer.delimited(number: 1, inner.bytes) }
        self.delimited(number: number, outer.bytes)
    }

    private mutating func text(number: UInt8, _ text: String) {
        self.delimited(number: number, Array(text.utf8))
    }

    private mutating func delimited(number: UInt8, _ contents: [UInt8]) {
        self.tag(number: number, wireType: 2)
        self.varint(UInt64(contents.count))
        self.bytes += contents
    }

    private mutating func tag(number: UInt8, wireType: UInt8) {
        self.varint(UInt64(number) << 3 | UInt64(wireType))
    }

    private mutating func zigzag(_ value: Int64) {
        self.varint(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    private mutating func double(_ value: Double) {
        let bits = value.bitPattern
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            self.bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
    }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(rest))
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
        case .stringList: .stringList
        case .int64List: .int64List
        case .doubleList: .doubleList
        case .timestampList: .timestampList
        case .bytesList: .bytesList
        case .locationList: .locationList
        case .referenceList: .referenceList
        case .emptyList: .emptyList
        case .clear: .clear
        }
    }
}
