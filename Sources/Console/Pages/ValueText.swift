import Foundation
import RecordModel

/// Values as people type them.
enum ValueText {
    /// Reads a value of a type.
    ///
    /// - Throws: `PageFailure` with the form that is expected.
    static func value(
        _ text: String,
        of type: FieldType,
        field: String
    ) throws(PageFailure) -> FieldValue {
        let value: FieldValue? =
            switch type {
            case .string: .string(text)
            case .int64: Int64(text).map { .int64($0) }
            case .double: Double(text).map { .double($0) }
            case .timestamp: self.seconds(text).map { .timestamp($0) }
            case .bytes: Data(base64Encoded: text).map { .bytes(Array($0)) }
            case .reference: .reference(Reference(recordName: text, action: .none))
            case .location, .asset, .stringList, .int64List, .doubleList, .timestampList, .bytesList,
                .locationList, .referenceList, .assetList, .emptyList, .clear:
                nil
            }
        guard let value else {
            throw .invalid(
                "\(field) takes \(self.form(of: type)), not '\(Shown.beginning(of: text, bytes: 80))'."
            )
        }
        return value
    }

    private static func form(of type: FieldType) -> String {
        switch type {
        case .int64: "a whole number"
        case .double: "a number"
        case .timestamp: "a date such as 2026-11-26 or 2026-11-26T08:30:00Z"
        case .bytes: "bytes in base64"
        default: "a value that only a predicate can say"
        }
    }

    /// Seconds since 2001.
    private static func seconds(_ text: String) -> Double? {
        let styles = [
            Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle(),
            Date.ISO8601FormatStyle().year().month().day(),
        ]
        for style in styles {
            guard let date = try? style.parse(text) else { continue }
            return ServerDate.nearest(toSeconds: date.timeIntervalSinceReferenceDate)
        }
        return nil
    }
}
