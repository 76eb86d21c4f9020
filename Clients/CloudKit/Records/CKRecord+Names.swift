extension CKRecord {
    /// The record types that the server itself defines.
    public enum SystemType {
        /// A user of the container.
        public static let userRecord: RecordType = CKRecordTypeUserRecord
        /// A share.
        public static let share: RecordType = CKRecordTypeShare
    }

    /// The names of system fields in queries and desired keys.
    public enum SystemFieldKey {
        /// The record's ID.
        public static var recordID: FieldKey { "___recordID" }
        /// Who created the record.
        public static var creatorUserRecordID: FieldKey { "___createdBy" }
        /// When the record was created.
        public static var creationDate: FieldKey { "___createTime" }
        /// Who changed the record last.
        public static var lastModifiedUserRecordID: FieldKey { "___modifiedBy" }
        /// When the record was changed last.
        public static var modificationDate: FieldKey { "___modTime" }
        /// The parent.
        public static let parent: FieldKey = CKRecordParentKey
        /// The share.
        public static let share: FieldKey = CKRecordShareKey
    }

    /// What happens to the holder of a reference when its target is deleted.
    public enum ReferenceAction: UInt, Sendable {
        /// Nothing: the reference dangles.
        case none = 0
        /// The holder is deleted too.
        case deleteSelf = 1
    }
}
