extension CKSyncEngine.Event {
    /// What became of a batch of changes of zones.
    ///
    /// Those that failed for a reason that passes are pending again, and are sent again without the app's help; all others are not.
    public struct SentDatabaseChanges: Sendable {
        /// A zone that was not created.
        public struct FailedZoneSave: Sendable {
            /// The zone.
            public let zone: CKRecordZone
            /// Why.
            public let error: CKError
        }

        /// Zones that exist now.
        public let savedZones: [CKRecordZone]
        /// Zones that were not created.
        public let failedZoneSaves: [FailedZoneSave]
        /// Zones that are no more.
        public let deletedZoneIDs: [CKRecordZone.ID]
        /// Zones that were not deleted, and why.
        public let failedZoneDeletes: [CKRecordZone.ID: CKError]
    }

    /// What became of a batch of changes of records.
    ///
    /// Those that failed for a reason that passes are pending again, and are sent again without the app's help. All others are not, those of an
    /// atomic zone that failed with another one (`batchRequestFailed`) included: the app resolves what is to be resolved and adds them again.
    public struct SentRecordZoneChanges: Sendable {
        /// A record that was not saved.
        public struct FailedRecordSave: Sendable {
            /// The record.
            public let record: CKRecord
            /// Why.
            public let error: CKError
        }

        /// Records that were saved, with their new change tags.
        public let savedRecords: [CKRecord]
        /// Records that were not saved.
        public let failedRecordSaves: [FailedRecordSave]
        /// Records that are no more.
        public let deletedRecordIDs: [CKRecord.ID]
        /// Records that were not deleted, and why.
        public let failedRecordDeletes: [CKRecord.ID: CKError]
    }
}
