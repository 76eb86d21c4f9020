// Records in batches.
extension CKDatabase {
    /// Fetches records by ID.
    ///
    /// - Shape: At most 400, else `limitExceeded`.
    /// - Parameters:
    ///   - recordIDs: Which; one that is named several times is fetched once.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    ///   - completionHandler: Told a result for each ID, or why the request as a whole failed.
    @preconcurrency public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil,
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>) -> Void
    ) {
        self.deliver({ RecordFetch(recordIDs, desiredKeys: desiredKeys, scope: $0) }) { results in
            completionHandler(results.map(\.values))
        }
    }

    /// Fetches records by ID.
    ///
    /// - Shape: At most 400, else `limitExceeded`.
    /// - Parameters:
    ///   - ids: Which; one that is named several times is fetched once.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    /// - Returns: A result for each ID.
    /// - Throws: Why the request as a whole failed.
    public func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await self.results { RecordFetch(ids, desiredKeys: desiredKeys, scope: $0) }.values
    }

    /// Saves and deletes records; see `CKModifyRecordsOperation`.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save.
    ///   - recordIDsToDelete: The IDs of the records to delete.
    ///   - savePolicy: What to do about changes that others made meanwhile.
    ///   - atomically: Whether all items of a custom zone succeed or none.
    ///   - completionHandler: Told a result for each item, or why the request as a whole failed.
    @preconcurrency public func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
                        deleteResults: [CKRecord.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        self.deliver { scope throws(CKError) in
            try RecordModification(
                saving: recordsToSave,
                deleting: recordIDsToDelete,
                policy: savePolicy,
                isAtomic: atomically,
                scope: scope
            )
        } to: { results in
            completionHandler(results.map { (saveResults: $0.values, deleteResults: $0.deletions) })
        }
    }

    /// Saves and deletes records; see `CKModifyRecordsOperation`.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save.
    ///   - recordIDsToDelete: The IDs of the records to delete.
    ///   - savePolicy: What to do about changes that others made meanwhile.
    ///   - atomically: Whether all items of a custom zone succeed or none.
    /// - Returns: A result for each item; also when an atomic batch fails.
    /// - Throws: Why the request as a whole failed.
    @discardableResult
    public func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        let results = try await self.results { scope throws(CKError) in
            try RecordModification(
                saving: recordsToSave,
                deleting: recordIDsToDelete,
                policy: savePolicy,
                isAtomic: atomically,
                scope: scope
            )
        }
        return (saveResults: results.values, deleteResults: results.deletions)
    }
}
