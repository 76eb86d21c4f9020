import Foundation
package import RecordModel

/// Records of one type as a table in CSV, with a column for each field.
///
/// ```text
/// recordName,recordChangeTag,title,count:INT64,tags:STRING_LIST
/// first,1f,"Hello, world",3,"[""a"",""b""]"
/// ```
///
/// A text, a number, bytes in base64 and a plain reference are written unquoted; all other values
/// as in JSON. An empty cell means that the record does not have the field, and a cell of two
/// quotes means the empty text.
///
/// - Source: RFC 4180.
package struct RecordTable: Sendable {
    package struct Column: Hashable, Sendable {
        package var field: String
        package var type: FieldType

        package init(field: String, type: FieldType) {
            self.field = field
            self.type = type
        }

        var title: String { self.type == .string ? self.field : "\(self.field):\(self.type.jsonName)" }
    }

    static let nameTitle = "recordName"
    static let typeTitle = "recordType"
    static let tagTitle = "recordChangeTag"

    package var columns: [Column]
    private let dates: DateForm

    package init(columns: [Column], dates: DateForm = .milliseconds) {
        self.columns = columns
        self.dates = dates
    }

    // MARK: Writing

    /// The first line, without its line break.
    package var header: [UInt8] {
        Self.line([Self.nameTitle, Self.tagTitle] + self.columns.map(\.title))
    }

    /// The line of a record, without its line break.
    ///
    /// Fields without a column are omitted.
    package func line(of record: Record) -> [UInt8] {
        var values: [String: FieldValue] = [:]
        for field in record.body.fields { values[field.name] = field.value }
        let cells = self.columns.map { column in values[column.field].map { Self.cell($0, dates: self.dates) }
        }
        return Self.line([record.id.recordName, record.changeTag] + cells)
    }

    private static func line(_ cells: [String?]) -> [UInt8] {
        var line: [UInt8] = []
        for (offset, cell) in cells.enumerated() {
            if offset > 0 { line.append(UInt8(ascii: ",")) }
            if let cell { self.append(cell, to: &line) }
        }
        return line
    }

    /// Quotes by bytes: a quote and a following combining accent are one character.
    private static func append(_ cell: String, to line: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let isPlain =
            !cell.isEmpty && !cell.utf8.contains { $0 == quote || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        guard !isPlain else {
            line += cell.utf8
            return
        }
        line.append(quote)
        for byte in cell.utf8 {
            if byte == quote { line.append(quote) }
            line.append(byte)
        }
        line.append(quote)
    }

    /// The text of a value, as shown in a column.
    package static func cell(_ value: FieldValue, dates: DateForm = .milliseconds) -> String {
        switch value {
        case .timestamp(let seconds) where dates == .iso && ISODate.text(seconds: seconds) != nil:
            return ISODate.text(seconds: seconds) ?? ""
        case .string(let text): return text
        case .bytes(let bytes): return Data(bytes).base64EncodedString()
        case .reference(let reference) where reference.isPlain: return reference.recordName
        default:
            var output = JSONOutput(dates: dates)
            output.value(value)
            return String(decoding: output.text, as: UTF8.self)
        }
    }

    // MARK: Reading

    static func value(
        _ cell: String,
        of column: Column,
        at position: TextPosition
    ) throws(RecordJSONError) -> FieldValue {
        let node: JSONNode
        switch column.type {
        case .string, .bytes: node = JSONNode(position: position, value: .string(cell))
        case .timestamp where ISODate.seconds(cell) != nil:
            node = JSONNode(position: position, value: .string(cell))
        case .reference where !cell.hasPrefix("{"):
            return .reference(Reference(recordName: cell, action: .none))
        default:
            do throws(RecordJSONError) {
                node = try JSONParser.parse(Array(cell.utf8), from: position)
            } catch {
                throw RecordJSONError(
                    .wrongValue(
                        expected: column.type == .timestamp
                            ? ISODate.expected : "a value of the type \(column.type.jsonName)",
                        found: "another text"
                    ),
                    at: position,
                    field: column.field
                )
            }
        }
        return try FieldReading.value(of: column.field, node, type: column.type)
    }
}

extension Reference {
    /// Whether the name alone describes the reference.
    fileprivate var isPlain: Bool {
        self.zone == nil && self.action == .none && !self.recordName.hasPrefix("{")
    }
}
