/// A part of a schema that a change would remove.
package enum SchemaLoss: Hashable, Sendable {
    case recordType(String)
    case field(String, recordType: String)
    case fieldType(String, recordType: String, old: String, new: String)

    package var recordType: String {
        switch self {
        case .recordType(let name): name
        case .field(_, let recordType): recordType
        case .fieldType(_, let recordType, _, _): recordType
        }
    }
}

extension SchemaLoss: CustomStringConvertible {
    package var description: String {
        switch self {
        case .recordType(let name): "the record type \(name) would be removed"
        case .field(let field, let recordType): "the field \(recordType).\(field) would be removed"
        case .fieldType(let field, let recordType, let old, let new):
            "the field \(recordType).\(field) would change from \(old) to \(new)"
        }
    }
}
