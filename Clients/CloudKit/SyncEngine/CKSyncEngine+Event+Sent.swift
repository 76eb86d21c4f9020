extension CKSyncEngine.Event {
    /// The results of a batch of changes of zones.
    ///
    /// Changes that failed temporarily are pending again, and the engine sends them without the
    /// app. Other failed changes are not.
    public struct SentDatabaseChanges: Sendable {
        /// A zone that was not created.
        public struct FailedZoneSave: Sendable {
            /// The zone.
            public let zone: CKRecordZone
            /// The reason.
            public let error: CKError
        }

        /// Zones that were created.
        public let savedZones: [CKRecordZone]
        /// Zones that were not created.
        public let failedZoneSaves: [FailedZoneSave]
        /// Zones that were deleted.
        public let deletedZoneIDs: [CKRecordZone.ID]
        /// Zones that were not deleted, with the reason.
        public let failedZoneDeletes: [CKRecordZone.ID: CKError]
    }

    /// The results of a batch of changes of records.
    ///
    /// Changes that failed temporarily are pending again, and the engine sends them without the
    /// app. Other failed changes are not, including those that failed with another one in an atomic
    /// zone (`batchRequestFailed`): the app resolves the errors and adds the changes again.
    public struct SentRecordZoneChanges: Sendable {
        /// A record that was not saved.
        public struct FailedRecordSave: Sendable {
            /// The record.
            public let record: CKRecord
            /// The reason.
            public let error: CKError
        }

        /// Records that were saved, with their new change tags.
        public let savedRecords: [CKRecord]
        /// Records that were not saved.
        public let failedRecordSaves: [FailedRecordSave]
        /// Records that were deleted.
        public let deletedRecordIDs: [CKRecord.ID]
        /// Records that were not deleted, with the reason.
        public let failedRecordDeletes: [CKRecord.ID: CKError]
    }
}
