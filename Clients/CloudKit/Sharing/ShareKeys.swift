import RecordModel

/// The keys of shares, which have dots, and the names of their fields, which can't have any.
enum ShareKeys {
    private static let names = [
        CKShareTitleKey: "cloudkit_title",
        CKShareThumbnailImageDataKey: "cloudkit_thumbnailImageData",
        CKShareTypeKey: "cloudkit_type",
    ]

    /// The name of a key's field.
    static func name(of key: String) -> String { self.names[key] ?? key }

    /// The key of a field.
    static func key(of name: String) -> String { self.names.first { $0.value == name }?.key ?? name }

    /// Returns the names to fetch: `keys`, and those that complete a record's `share` and a share.
    static func asked(_ keys: [String]?) -> [String]? {
        guard let keys else { return nil }
        let system = [ShareRecord.referenceField, ShareRecord.contentsField]
        return keys.map { self.name(of: $0) }.filter { !system.contains($0) } + system
    }
}
