/// The numbers of an import.
package struct ImportReport: Encodable, Sendable {
    package struct Zone: Encodable, Sendable {
        package let name: String
        /// Whether it was absent.
        package let isNew: Bool
    }

    package internal(set) var zones: [Zone] = []
    package internal(set) var records: Int64 = 0
    package internal(set) var shares: Int64 = 0
    package internal(set) var assets: Int64 = 0
    /// The records of users, which their server makes.
    package internal(set) var skipped: Int64 = 0
    /// The number of records that an interrupted import of this bundle had saved.
    package internal(set) var alreadyThere: Int64 = 0
    /// Types and fields that the schema got.
    package internal(set) var schemaAdded: [String] = []
    /// Authors and participants who are no users here.
    package internal(set) var unknownUsers = 0
    package internal(set) var isScrambled = false
}

/// The numbers of an export.
package struct ExportReport: Encodable, Sendable {
    package let zones: [String]
    package let records: Int64
    package let shares: Int64
    package let assets: Int64
    package let bytes: Int64
    /// Of everything before the last entry.
    package let sha256: String
}
