package import RecordModel
package import StorageContract

extension QueryableType {
    /// The user's fields with the name of a system field that the query names.
    ///
    /// The query means the system's.
    package func fieldsHidden(from query: Query) -> [String] {
        let hidden = SystemField.allCases.filter { field in
            field.property.map { self.fields[$0] != nil } ?? false
        }
        guard !hidden.isEmpty else { return [] }
        let named = query.predicate.fields.union(query.sort.map(\.field))
        return hidden.filter { named.contains($0.rawValue) }.compactMap(\.property)
    }
}

extension Predicate {
    /// The names of the fields that it compares.
    fileprivate var fields: Set<String> {
        switch self {
        case .all, .nothing: []
        case .comparison(let comparison): [comparison.field]
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.fields) }
        }
    }
}
