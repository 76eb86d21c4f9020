extension CKSyncEngine.Event {
    /// A page of changes of zones, oldest first.
    public struct FetchedDatabaseChanges: Sendable {
        /// Zones that were created, or in which a record changed.
        public let modifications: [CKDatabase.DatabaseChange.Modification]
        /// Zones that were deleted.
        public let deletions: [CKDatabase.DatabaseChange.Deletion]
    }

    /// A page of changes of records in one zone: parents before children, else oldest first.
    ///
    /// The records that the engine sent come back.
    public struct FetchedRecordZoneChanges: Sendable {
        /// Records that were saved, in their latest state.
        public let modifications: [CKDatabase.RecordZoneChange.Modification]
        /// Records that were deleted.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]
    }

    /// The engine begins to fetch changes of a zone.
    public struct WillFetchRecordZoneChanges: Sendable {
        /// The ID of the zone.
        public let zoneID: CKRecordZone.ID
        /// Whether everything in the zone comes.
        ///
        /// That is the case if the server no longer knows the changes since the last fetch, or if
        /// the app sent to the zone before it was ever fetched. The last `fetchedRecordZoneChanges`
        /// of the zone then reports as deleted each record that the engine reported before and that
        /// did not come again. If the installation keeps no ledger, a record was deleted if it did
        /// not come by a `didFetchRecordZoneChanges` without an error.
        ///
        /// Beyond CloudKit.
        public let startsAnew: Bool
    }

    /// The engine has fetched the changes of a zone, or has given up.
    public struct DidFetchRecordZoneChanges: Sendable {
        /// The ID of the zone.
        public let zoneID: CKRecordZone.ID
        /// Why the engine gave up; `nil` if it did not.
        ///
        /// After `changeTokenExpired` the engine starts again, from the zone's beginning.
        public let error: CKError?
    }
}
