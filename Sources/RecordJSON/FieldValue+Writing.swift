import Foundation
package import RecordModel

extension JSONOutput {
    /// Writes the value of a field, without its type.
    package mutating func value(_ value: FieldValue) {
        switch value {
        case .string(let text): self.string(text)
        case .int64(let number): self.literal("\(number)")
        case .double(let number): self.literal("\(number)")
        case .timestamp(let seconds): JSONDate.write(seconds: seconds, to: &self)
        case .bytes(let bytes): self.string(Data(bytes).base64EncodedString())
        case .location(let location): self.location(location)
        case .reference(let reference): self.reference(reference)
        case .asset(let asset): self.asset(asset)
        case .stringList(let list): self.array(list) { $0.string($1) }
        case .int64List(let list): self.array(list) { $0.literal("\($1)") }
        case .doubleList(let list): self.array(list) { $0.literal("\($1)") }
        case .timestampList(let list): self.array(list) { JSONDate.write(seconds: $1, to: &$0) }
        case .bytesList(let list): self.array(list) { $0.string(Data($1).base64EncodedString()) }
        case .locationList(let list): self.array(list) { $0.location($1) }
        case .referenceList(let list): self.array(list) { $0.reference($1) }
        case .assetList(let list): self.array(list) { $0.asset($1) }
        case .emptyList: self.array([Int]()) { _, _ in }
        case .clear: self.literal("null")
        }
    }

    mutating func zone(_ zone: ZoneID) {
        self.object { output in
            output.member("zoneName", zone.zoneName)
            if !zone.ownerName.isEmpty { output.member("ownerRecordName", zone.ownerName) }
        }
    }

    private mutating func reference(_ reference: Reference) {
        self.object { output in
            output.member("recordName", reference.recordName)
            if let zone = reference.zone {
                output.name("zoneID")
                output.zone(zone)
            }
            output.member("action", reference.action.jsonName)
        }
    }

    private mutating func asset(_ asset: Asset) {
        self.object { output in
            output.member("fileChecksum", asset.hexadecimal)
            output.member("size", literal: "\(asset.size)")
        }
    }

    private mutating func location(_ location: Location) {
        self.object { output in
            output.member("latitude", literal: "\(location.latitude)")
            output.member("longitude", literal: "\(location.longitude)")
            for (name, path) in LocationNames.optional {
                let value = location[keyPath: path]
                if value.bitPattern != 0 { output.member(name, literal: "\(value)") }
            }
            guard location.timestamp.bitPattern != 0 else { return }
            output.name("timestamp")
            JSONDate.write(seconds: location.timestamp, to: &output)
        }
    }
}

/// The members of a location that are omitted if they are 0.
enum LocationNames {
    // SAFETY: key paths of a value type without captures are immutable.
    nonisolated(unsafe) static let optional: [(String, WritableKeyPath<Location, Double>)] = [
        ("altitude", \.altitude), ("horizontalAccuracy", \.horizontalAccuracy),
        ("verticalAccuracy", \.verticalAccuracy), ("course", \.course), ("speed", \.speed),
    ]
}

extension Asset {
    /// The hash as 64 hexadecimal digits.
    package var hexadecimal: String {
        self.sha256.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
