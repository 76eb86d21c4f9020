extension SystemField {
    /// The property of a client's record with this value; a predicate or a sort may use its name.
    ///
    /// `nil` if there is none. If a user field has the same name, a query means the system field.
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

    /// The system field of a property.
    ///
    /// Fails if there is none.
    package init?(property: String) {
        guard let field = Self.byProperty[property] else { return nil }
        self = field
    }
}
