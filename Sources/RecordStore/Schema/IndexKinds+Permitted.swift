import RecordModel
package import StorageContract

extension IndexKinds {
    /// The indexes that a schema may declare.
    package static func permitted(for type: DeclaredType, isEncrypted: Bool) -> IndexKinds {
        guard !isEncrypted else { return [] }
        switch type {
        case .number: return [.queryable, .sortable]
        case .field(.asset), .field(.assetList): return []
        case .field(.string): return [.queryable, .sortable, .searchable]
        case .field(.stringList): return [.queryable, .searchable]
        case .field(let type) where type.isList: return .queryable
        case .field: return [.queryable, .sortable]
        }
    }
}
