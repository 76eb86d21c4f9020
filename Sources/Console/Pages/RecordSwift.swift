import Foundation
import RecordModel

/// A record as Swift code that makes it with the SDK.
enum RecordSwift {
    static func text(of record: Record) -> String {
        let zone = record.id.zone
        let owner = zone.ownerName.isEmpty ? "" : ", ownerName: \(self.literal(zone.ownerName))"
        var lines = [
            "let zoneID = CKRecordZone.ID(zoneName: \(self.literal(zone.zoneName))\(owner))",
            "let recordID = CKRecord.ID(recordName: \(self.literal(record.id.recordName)), zoneID: zoneID)",
            "let record = CKRecord(recordType: \(self.literal(record.recordType)), recordID: recordID)",
        ]
        if let parent = record.parent {
            lines.append("record.setParent(CKRecord.ID(recordName: \(self.literal(parent)), zoneID: zoneID))")
        }
        for field in record.body.fields where !field.name.hasPrefix("_") {
            let target = field.isEncrypted ? "record.encryptedValues" : "record"
            guard let value = self.value(field.value) else {
                lines.append("// \(field.name) has the type \(field.value.type.schemaName).")
                continue
            }
            lines.append("\(target)[\(self.literal(field.name))] = \(value)")
        }
        return lines.joined(separator: "\n")
    }

    /// An expression; `nil` for files, which code cannot hold.
    private static func value(_ value: FieldValue) -> String? {
        switch value {
        case .string(let text): self.literal(text)
        case .int64(let number): "\(number) as Int64"
        case .double(let number): self.double(number)
        case .timestamp(let seconds): "Date(timeIntervalSinceReferenceDate: \(self.double(seconds)))"
        case .bytes(let bytes): self.data(bytes)
        case .location(let location): self.location(location)
        case .reference(let reference): self.reference(reference)
        case .stringList(let list): self.list(list, self.literal)
        case .int64List(let list): self.list(list) { "\($0)" } + " as [Int64]"
        case .doubleList(let list): self.list(list, self.double)
        case .timestampList(let list):
            self.list(list) { "Date(timeIntervalSinceReferenceDate: \(self.double($0)))" }
        case .bytesList(let list): self.list(list, self.data)
        case .locationList(let list): self.list(list, self.location)
        case .referenceList(let list): self.list(list, self.reference)
        case .emptyList: "[] as [String]"
        case .asset, .assetList, .clear: nil
        }
    }

    private static func list<Element>(_ list: [Element], _ text: (Element) -> String) -> String {
        "[" + list.map(text).joined(separator: ", ") + "]"
    }

    private static func double(_ number: Double) -> String {
        if number.isNaN { return "Double.nan" }
        if number.isInfinite { return number < 0 ? "-Double.infinity" : "Double.infinity" }
        return "\(number)"
    }

    private static func data(_ bytes: [UInt8]) -> String {
        "Data(base64Encoded: \"\(Data(bytes).base64EncodedString())\")!"
    }

    private static func location(_ location: Location) -> String {
        "CLLocation(latitude: \(self.double(location.latitude)), longitude: \(self.double(location.longitude)))"
    }

    private static func reference(_ reference: Reference) -> String {
        let action =
            switch reference.action {
            case .none, .validate: ".none"
            case .deleteSelf: ".deleteSelf"
            }
        return "CKRecord.Reference(recordID: CKRecord.ID(recordName: \(self.literal(reference.recordName)), "
            + "zoneID: zoneID), action: \(action))"
    }

    /// A string literal, in which nothing ends it or is not seen.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            default:
                let isPlain = ![.control, .format, .lineSeparator, .paragraphSeparator].contains(
                    scalar.properties.generalCategory
                )
                literal += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return literal + "\""
    }
}
