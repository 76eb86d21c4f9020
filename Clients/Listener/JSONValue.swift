import CloudKit

/// The parts of a line of JSON: keys in the order of their bytes, without line breaks.
enum JSONValue: Encodable, Hashable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    case list([JSONValue])
    case object([String: JSONValue])

    /// Makes the value of a record's field: dates are ISO 8601 text, bytes base64, and a reference
    /// the name of its record.
    init(field value: Any) {
        switch value {
        case let date as Date: self = .text(date.text)
        case let data as Data: self = .text(data.base64EncodedString())
        case let reference as CKRecord.Reference: self = .text(reference.recordID.recordName)
        case let location as CLLocation:
            self = .object([
                "latitude": .number(location.coordinate.latitude),
                "longitude": .number(location.coordinate.longitude),
            ])
        case let list as [Any]: self = .list(list.map { JSONValue(field: $0) })
        case let text as String: self = .text(text)
        case let integer as Int64: self = .integer(integer)
        case let number as Double: self = .number(number)
        default: self = .text("\(value)")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        }
    }

    /// The value as one line.
    var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Fields of records are finite, which is all that JSON requires.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}

extension Date {
    /// The date in ISO 8601, to the millisecond.
    var text: String { self.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}

extension [String: JSONValue] {
    /// Fields for people: `name=value`, in the order of their names.
    var text: String { self.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value.line)" }.joined() }
}
