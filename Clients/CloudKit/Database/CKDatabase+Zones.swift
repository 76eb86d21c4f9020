// Zones in batches.
extension CKDatabase {
    /// Fetches zones; see `recordZones(for:)`.
    ///
    /// - Parameters:
    ///   - zoneIDs: At most 400 IDs; one that is named several times is fetched once.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each ID, or
    ///     with the error of the whole request.
    @preconcurrency public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>
            ) -> Void
    ) {
        self.deliver({ ZoneFetch(zoneIDs, scope: $0) }) { results in completionHandler(results.map(\.values))
        }
    }

    /// Fetches zones.
    ///
    /// - Parameter ids: At most 400 IDs; one that is named several times is fetched once.
    /// - Returns: A result for each ID; `zoneNotFound` if there is no such zone.
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 IDs; `notAuthenticated`
    ///   if no user is signed in, except in the public database; `requestRateLimited`,
    ///   `serviceUnavailable` or `networkFailure` (repeat later).
    /// - Source: Apple's `CKDatabase.recordZones(for:)`.
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await self.results { ZoneFetch(ids, scope: $0) }.values
    }

    /// Creates and deletes zones; see `CKModifyRecordZonesOperation`.
    ///
    /// - Parameters:
    ///   - recordZonesToSave: The zones to create; at most 400 items with the deletions.
    ///   - recordZoneIDsToDelete: The IDs of the zones to delete; none that is also created.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each item, or
    ///     with the error of the whole request.
    @preconcurrency public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
                        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        self.deliver { scope throws(CKError) in
            try ZoneModification(saving: recordZonesToSave, deleting: recordZoneIDsToDelete, scope: scope)
        } to: { results in
            completionHandler(results.map { (saveResults: $0.values, deleteResults: $0.deletions) })
        }
    }

    /// Creates and deletes zones; see `CKModifyRecordZonesOperation`.
    ///
    /// - Parameters:
    ///   - recordZonesToSave: The zones to create; at most 400 items with the deletions.
    ///   - recordZoneIDsToDelete: The IDs of the zones to delete; none that is also created.
    /// - Returns: A result for each item; see `save(_:)` and `deleteRecordZone(withID:)` for its
    ///   errors.
    /// - Throws: `CKError` of the whole request: `invalidArguments` for a zone that is named twice;
    ///   `limitExceeded` above 400 items; `notAuthenticated` (sign in); `requestRateLimited`,
    ///   `serviceUnavailable` or `networkFailure` (repeat later).
    /// - Source: Apple's `CKDatabase.modifyRecordZones(saving:deleting:)`.
    @discardableResult
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        let results = try await self.results { scope throws(CKError) in
            try ZoneModification(saving: recordZonesToSave, deleting: recordZoneIDsToDelete, scope: scope)
        }
        return (saveResults: results.values, deleteResults: results.deletions)
    }
}
