// Writes values in the one encoding that bodies permit: those of a message's fields that differ
// from their type's zero, in the order of their numbers.
extension WireWriter {
    mutating func writeField(_ name: String, _ value: FieldValue, isEncrypted: Bool) {
        self.writeMessage(Proto.RecordFields.fields) { body in
            body.writeElement(Proto.Field.name, name)
            body.writeField(Proto.Field.encrypted, isEncrypted)
            body.write(value)
        }
    }

    private mutating func write(_ value: FieldValue) {
        let field = value.type.field
        switch value {
        case .string(let string): self.writeElement(field, string)
        case .int64(let integer): self.writePresent(field, integer.zigzag)
        case .double(let double), .timestamp(let double): self.writePresent(field, double)
        case .bytes(let bytes): self.writeElement(field, bytes.span)
        case .location(let location): self.write(field, location)
        case .reference(let reference): self.write(field, reference)
        case .asset(let asset): self.write(field, asset)
        case .stringList(let strings):
            self.write(field, strings) { $0.writeElement(Proto.StringList.values, $1) }
        case .bytesList(let list):
            self.write(field, list) { $0.writeElement(Proto.BytesList.values, $1.span) }
        case .locationList(let locations):
            self.write(field, locations) { $0.write(Proto.LocationList.values, $1) }
        case .referenceList(let references):
            self.write(field, references) { $0.write(Proto.ReferenceList.values, $1) }
        case .assetList(let assets): self.write(field, assets) { $0.write(Proto.AssetList.values, $1) }
        case .int64List(let integers):
            self.write(field, packed: integers, Proto.Int64List.values) { $0.putVarint($1.zigzag) }
        case .doubleList(let doubles), .timestampList(let doubles):
            self.write(field, packed: doubles, Proto.DoubleList.values) { $0.putFixed64($1.bitPattern) }
        case .emptyList, .clear: self.writePresent(field, 1 as UInt64)
        }
    }

    private mutating func write(_ field: some WireField, _ location: Location) {
        self.writeMessage(field) { message in
            for field in Proto.Location.allCases {
                message.writeField(field, location[keyPath: field.property])
            }
        }
    }

    private mutating func write(_ field: some WireField, _ reference: Reference) {
        self.writeMessage(field) { message in
            message.writeElement(Proto.Reference.recordName, reference.recordName)
            if let zone = reference.zone {
                message.writeMessage(Proto.Reference.zone) { message in
                    message.writeField(Proto.ZoneID.zoneName, zone.zoneName)
                    message.writeField(Proto.ZoneID.ownerName, zone.ownerName)
                }
            }
            message.writeField(Proto.Reference.action, UInt32(reference.action.rawValue))
        }
    }

    private mutating func write(_ field: some WireField, _ asset: Asset) {
        self.writeMessage(field) { message in
            message.writeElement(Proto.Asset.sha256, asset.sha256.span)
            message.writeField(Proto.Asset.size, asset.size)
        }
    }

    private mutating func write<Element>(
        _ field: Proto.Field,
        _ elements: [Element],
        _ write: (inout WireWriter, Element) -> Void
    ) {
        self.writeMessage(field) { message in
            for element in elements { write(&message, element) }
        }
    }

    private mutating func write<Element>(
        _ field: Proto.Field,
        packed elements: [Element],
        _ values: some WireField,
        _ write: (inout WireWriter, Element) -> Void
    ) {
        self.writeMessage(field) { message in
            guard !elements.isEmpty else { return }
            message.writeMessage(values) { message in
                for element in elements { write(&message, element) }
            }
        }
    }
}
