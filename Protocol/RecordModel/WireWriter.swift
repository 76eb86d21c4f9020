/// Writes the Protocol Buffers wire format in the one encoding that bodies permit.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func field(_ field: Field) {
        self.message(number: 1) { writer in
            writer.text(number: 1, field.name)
            if field.isEncrypted { writer.bytes += [0x10, 0x01] }
            writer.value(field.value)
        }
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
        case .location(let location): self.location(number: number, location)
        case .reference(let reference): self.reference(number: number, reference)
        case .asset(let asset): self.asset(number: number, asset)
        case .stringList(let strings): self.list(number: number, strings) { $0.text(number: 1, $1) }
        case .int64List(let integers): self.packed(number: number, integers) { $0.zigzag($1) }
        case .doubleList(let doubles), .timestampList(let doubles):
            self.packed(number: number, doubles) { $0.double($1) }
        case .bytesList(let list): self.list(number: number, list) { $0.delimited(number: 1, $1) }
        case .locationList(let locations): self.list(number: number, locations) { $0.location(number: 1, $1) }
        case .referenceList(let references):
            self.list(number: number, references) { $0.reference(number: 1, $1) }
        case .assetList(let assets): self.list(number: number, assets) { $0.asset(number: 1, $1) }
        case .emptyList, .clear:
            self.tag(number: number, wireType: 0)
            self.varint(1)
        }
    }

    private mutating func location(number: UInt8, _ location: Location) {
        self.message(number: number) { writer in
            for number in LocationNumber.allCases {
                let value = location[keyPath: number.property]
                guard value.bitPattern != 0 else { continue }
                writer.tag(number: UInt8(number.rawValue), wireType: 1)
                writer.double(value)
            }
        }
    }

    private mutating func reference(number: UInt8, _ reference: Reference) {
        self.message(number: number) { writer in
            writer.text(number: 1, reference.recordName)
            if let zone = reference.zone {
                writer.message(number: 2) { writer in
                    if !zone.zoneName.isEmpty { writer.text(number: 1, zone.zoneName) }
                    if !zone.ownerName.isEmpty { writer.text(number: 2, zone.ownerName) }
                }
            }
            if reference.action != .none {
                writer.tag(number: 3, wireType: 0)
                writer.varint(UInt64(reference.action.rawValue))
            }
        }
    }

    private mutating func asset(number: UInt8, _ asset: Asset) {
        self.message(number: number) { writer in
            writer.delimited(number: 1, asset.sha256)
            guard asset.size != 0 else { return }
            writer.tag(number: 2, wireType: 0)
            writer.varint(UInt64(asset.size))
        }
    }

    private mutating func list<Element>(
        number: UInt8,
        _ elements: [Element],
        _ write: (inout WireWriter, Element) -> Void
    ) {
        self.message(number: number) { writer in
            for element in elements { write(&writer, element) }
        }
    }

    private mutating func packed<Element>(
        number: UInt8,
        _ elements: [Element],
        _ write: (inout WireWriter, Element) -> Void
    ) {
        self.message(number: number) { writer in
            guard !elements.isEmpty else { return }
            writer.message(number: 1) { writer in
                for element in elements { write(&writer, element) }
            }
        }
    }

    mutating func text(number: UInt8, _ text: String) {
        self.delimited(number: number, text.utf8)
    }

    mutating func delimited(number: UInt8, _ contents: some Collection<UInt8>) {
        self.tag(number: number, wireType: 2)
        self.varint(UInt64(contents.count))
        self.bytes += contents
    }

    /// Writes contents after one byte for their length, and moves them if the length takes more.
    mutating func message(number: UInt8, _ contents: (inout WireWriter) -> Void) {
        self.tag(number: number, wireType: 2)
        let start = self.bytes.count
        self.bytes.append(0)
        contents(&self)
        let length = self.bytes.count - start - 1
        if length < 0x80 {
            self.bytes[start] = UInt8(length)
        } else {
            var prefix = WireWriter()
            prefix.varint(UInt64(length))
            self.bytes.replaceSubrange(start...start, with: prefix.bytes)
        }
    }

    mutating func tag(number: UInt8, wireType: UInt8) {
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

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(rest))
    }
}
