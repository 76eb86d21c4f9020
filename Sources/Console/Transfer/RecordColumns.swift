package import RecordJSON
import RecordModel
package import RecordStore
import StorageContract

/// The fields of a record type as columns of a table.
package enum RecordColumns {
    /// Fields of the schema, but for encrypted ones, which a table cannot say.
    package static func all(of type: RecordTypeDefinition?) -> [RecordTable.Column] {
        (type?.fields ?? []).compactMap { field in
            guard SystemField(rawValue: field.name) == nil, !field.isEncrypted else { return nil }
            switch field.type {
            case .field(let type): return RecordTable.Column(field: field.name, type: type)
            case .number(let preferred):
                return RecordTable.Column(field: field.name, type: preferred ?? .double)
            }
        }
    }
}
