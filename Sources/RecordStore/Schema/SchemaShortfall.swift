import RecordModel
package import StorageContract

/// A part of the schema that an app needs and that is missing.
package enum SchemaShortfall: Hashable, Sendable {
    case recordType(String)
    case field(String, recordType: String, type: String)
    case fieldType(String, recordType: String, required: String, found: String)
    case index(IndexKinds, field: String, recordType: String)
}

/// A line of the response to `check_schema`.
extension SchemaShortfall: CustomStringConvertible {
    package var description: String {
        switch self {
        case .recordType(let name): "RECORD TYPE \(name)"
        case .field(let field, let recordType, let type): "FIELD \(recordType).\(field) \(type)"
        case .fieldType(let field, let recordType, let required, let found):
            "FIELD \(recordType).\(field) \(required) (it is \(found))"
        case .index(let indexes, let field, let recordType): "INDEX \(recordType).\(field) \(indexes.text)"
        }
    }
}
