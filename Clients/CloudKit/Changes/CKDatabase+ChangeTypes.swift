// The changes of the methods that fetch one page.
extension CKDatabase {
    /// Changes of the zones of a database.
    public enum DatabaseChange {}

    /// Changes of the records of a zone.
    public enum RecordZoneChange {}

    /// A page of the changes of a database, and the token for the next page.
    typealias DatabaseChanges = (
        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    )

    /// A page of the changes of a zone, and the token for the next page.
    typealias RecordZoneChanges = (
        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, any Error>],
        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    )
}

extension CKDatabase.DatabaseChange {
    /// A zone that was created, or in which a record changed.
    public struct Modification: Sendable, Hashable {
        /// The zone.
        public let zoneID: CKRecordZone.ID
    }

    /// A zone that was deleted.
    public struct Deletion: Sendable, Hashable {
        /// Why a zone was deleted.
        public enum Reason: Sendable, Hashable {
            /// A client deleted it.
            case deleted
            /// Never sent: there are no settings in which a user could remove an app's data.
            case purged
            /// Never sent: the server has no keys that could be lost.
            case encryptedDataReset
        }

        /// The zone.
        public let zoneID: CKRecordZone.ID
        /// Why it was deleted.
        public let reason: Reason

        /// Whether the user removed the app's data; deprecated by Apple.
        public var purged: Bool { self.reason == .purged }
    }
}

extension CKDatabase.RecordZoneChange {
    /// A record that was created or changed.
    public struct Modification: Sendable, Hashable {
        /// The record in its latest state.
        public let record: CKRecord
    }

    /// A record that was deleted.
    public struct Deletion: Sendable, Hashable {
        /// The record's ID.
        public let recordID: CKRecord.ID
        /// The record's type.
        public let recordType: CKRecord.RecordType
    }
}
