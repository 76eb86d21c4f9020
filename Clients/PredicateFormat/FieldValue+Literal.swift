import RecordModel

extension FieldValue {
    /// The value as Foundation prints it in a format.
    var literal: String {
        switch self {
        case .string(let text): Self.quoted(text)
        case .int64(let integer): "\(integer)"
        case .double(let double): Self.number(double)
        case .timestamp(let seconds): "CAST(\(Self.fixed(seconds)), \"NSDate\")"
        case .bytes(let bytes): "<\(bytes.prefix(16).map(Self.hexadecimal).joined())>"
        case .location(let location): "<\(location.latitude),\(location.longitude)>"
        case .reference(let reference): "<CKReference: \(reference.recordName)>"
        case .asset(let asset): "<CKAsset: \(asset.sha256.prefix(16).map(Self.hexadecimal).joined())>"
        case .stringList(let list): Self.braced(list.map { .string($0) })
        case .int64List(let list): Self.braced(list.map { .int64($0) })
        case .doubleList(let list): Self.braced(list.map { .double($0) })
        case .timestampList(let list): Self.braced(list.map { .timestamp($0) })
        case .bytesList(let list): Self.braced(list.map { .bytes($0) })
        case .locationList(let list): Self.braced(list.map { .location($0) })
        case .referenceList(let list): Self.braced(list.map { .reference($0) })
        case .assetList(let list): Self.braced(list.map { .asset($0) })
        case .emptyList: "{}"
        case .clear: "nil"
        }
    }

    private static func braced(_ elements: [FieldValue]) -> String {
        "{\(elements.map(\.literal).joined(separator: ", "))}"
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// A whole number has no fraction, whatever its type, as `NSNumber` prints it.
    private static func number(_ double: Double) -> String {
        Int64(exactly: double).map { "\($0)" } ?? "\(double)"
    }

    /// At least six digits after the point, so that dates line up, and more if the value has them.
    private static func fixed(_ seconds: Double) -> String {
        guard let whole = Int64(exactly: seconds.rounded(.towardZero)), "\(seconds)".contains("e") == false
        else {
            return "\(seconds)"
        }
        let fraction = "\(seconds)".split(separator: ".").last.map(String.init) ?? "0"
        let sign = seconds < 0 && whole == 0 ? "-" : ""
        return "\(sign)\(whole).\(fraction)\(String(repeating: "0", count: max(0, 6 - fraction.utf8.count)))"
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
}
