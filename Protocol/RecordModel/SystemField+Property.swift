extension SystemField {
    /// The property of a client's record that has the value, and by which a predicate or a sort may
    /// ask for it.
    ///
    /// `nil` if there is none. A field of a user's may have the same name: a query means the
    /// system's then.
    package var property: String? {
        switch self {
        case .recordID: "recordID"
        case .createTime: "creationDate"
        case .createdBy: "creatorUserRecordID"
        case .modTime: "modificationDate"
        case .modifiedBy: "lastModifiedUserRecordID"
        case .parent: "parent"
        case .etag, .allText: nil
        }
    }

    private static let byProperty = Dictionary(
        uniqueKeysWithValues: Self.allCases.compactMap { field in field.property.map { ($0, field) } }
    )

    /// The field of a property; `nil` if none of the system's has it.
    package init?(property: String) {
        guard let field = Self.byProperty[property] else { return nil }
        self = field
    }
}
