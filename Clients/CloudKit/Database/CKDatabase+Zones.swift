// Zones in batches.
extension CKDatabase {
    /// Fetches zones.
    ///
    /// - Parameters:
    ///   - zoneIDs: Which; one that is named several times is fetched once.
    ///   - completionHandler: Told a result for each ID, or why the request as a whole failed.
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
    /// - Parameter ids: Which; one that is named several times is fetched once.
    /// - Returns: A result for each ID.
    /// - Throws: Why the request as a whole failed.
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await self.results { ZoneFetch(ids, scope: $0) }.values
    }

    /// Creates and deletes zones; see `CKModifyRecordZonesOperation`.
    ///
    /// - Parameters:
    ///   - recordZonesToSave: The zones to create.
    ///   - recordZoneIDsToDelete: The IDs of the zones to delete.
    ///   - completionHandler: Told a result for each item, or why the request as a whole failed.
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
    ///   - recordZonesToSave: The zones to create.
    ///   - recordZoneIDsToDelete: The IDs of the zones to delete.
    /// - Returns: A result for each item.
    /// - Throws: Why the request as a whole failed.
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
