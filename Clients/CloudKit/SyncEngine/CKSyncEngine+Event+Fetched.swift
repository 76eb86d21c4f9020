extension CKSyncEngine.Event {
    /// A page of what happened to zones, oldest first.
    public struct FetchedDatabaseChanges: Sendable {
        /// Zones that were created, or in which something changed.
        public let modifications: [CKDatabase.DatabaseChange.Modification]
        /// Zones that are no more.
        public let deletions: [CKDatabase.DatabaseChange.Deletion]
    }

    /// A page of what happened to records of one zone: parents before children, else oldest first.
    ///
    /// What the engine sent comes back.
    public struct FetchedRecordZoneChanges: Sendable {
        /// Records that were saved, at their latest state.
        public let modifications: [CKDatabase.RecordZoneChange.Modification]
        /// Records that were deleted.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]
    }

    /// The engine begins to fetch changes of a zone.
    public struct WillFetchRecordZoneChanges: Sendable {
        /// Which zone.
        public let zoneID: CKRecordZone.ID
        /// Whether everything in the zone comes, because the server does not know any more what happened since the engine last fetched, or
        /// something was sent to the zone before it was ever fetched.
        ///
        /// Then the last `fetchedRecordZoneChanges` of the zone has as deletions what the engine told of before and that did not come again. Where
        /// the installation keeps no ledger, a record that does not come until `didFetchRecordZoneChanges` without an error was deleted.
        ///
        /// Beyond CloudKit.
        public let startsAnew: Bool
    }

    /// The engine has fetched the changes of a zone, or given up.
    public struct DidFetchRecordZoneChanges: Sendable {
        /// Which zone.
        public let zoneID: CKRecordZone.ID
        /// Why it gave up; `nil`: it did not.
        ///
        /// With `changeTokenExpired` the engine begins again, from the zone's beginning.
        public let error: CKError?
    }
}
