// What changed, in the words of the methods that fetch a page of changes.
extension CKDatabase {
    /// What happened to zones of a database.
    public enum DatabaseChange {
        /// A zone was created, or something in it changed.
        public struct Modification: Sendable, Hashable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
        }

        /// A zone was deleted.
        public struct Deletion: Sendable, Hashable {
            /// Why a zone is no more.
            public enum Reason: Sendable, Hashable {
                /// A client deleted it.
                case deleted
                /// Never sent: there are no settings in which a user could remove an application's data.
                case purged
                /// Never sent: no key is lost that a server would know of.
                case encryptedDataReset
            }

            /// The zone.
            public let zoneID: CKRecordZone.ID
            /// Why it is no more.
            public let reason: Reason

            /// Whether the user removed the application's data; deprecated by Apple.
            public var purged: Bool { self.reason == .purged }
        }
    }

    /// What happened to records of a zone.
    public enum RecordZoneChange {
        /// A record was created or changed.
        public struct Modification: Sendable, Hashable {
            /// The record at its latest state.
            public let record: CKRecord
        }

        /// A record was deleted.
        public struct Deletion: Sendable, Hashable {
            /// The record.
            public let recordID: CKRecord.ID
            /// Its type.
            public let recordType: CKRecord.RecordType
        }
    }

    /// A page of the changes of a database, and where the next one begins.
    public typealias DatabaseChanges = (
        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    )

    /// A page of the changes of a zone, and where the next one begins.
    public typealias RecordZoneChanges = (
        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, any Error>],
        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    )
}
