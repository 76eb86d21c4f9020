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
        /// The creator of the record.
        public static var creatorUserRecordID: FieldKey { "___createdBy" }
        /// The time at which the record was created.
        public static var creationDate: FieldKey { "___createTime" }
        /// The user who changed the record last.
        public static var lastModifiedUserRecordID: FieldKey { "___modifiedBy" }
        /// The time at which the record was changed last.
        public static var modificationDate: FieldKey { "___modTime" }
        /// The parent.
        public static let parent: FieldKey = CKRecordParentKey
        /// The share.
        public static let share: FieldKey = CKRecordShareKey
    }

    /// The effect on the record with a reference of deleting the reference's target.
    public enum ReferenceAction: UInt, Sendable {
        /// Nothing: the reference dangles.
        case none = 0
        /// The record with the reference is deleted too.
        case deleteSelf = 1
    }
}
