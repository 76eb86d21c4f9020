// Records in batches.
extension CKDatabase {
    /// Fetches records by ID; see `records(for:)`.
    ///
    /// - Parameters:
    ///   - recordIDs: At most 400 IDs; one that is named several times is fetched once.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each ID, or
    ///     with the error of the whole request.
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

    /// Fetches records by ID, with the files of their assets.
    ///
    /// ```swift
    /// let results = try await database.records(for: ids, desiredKeys: ["text"])
    /// for (id, result) in results {
    ///     switch result {
    ///     case .success(let note): print(note["text"] ?? "")
    ///     case .failure(let error): print(id.recordName, error)
    ///     }
    /// }
    /// ```
    ///
    /// | error | of | what to do |
    /// |---|---|---|
    /// | `unknownItem` | a record | create it, or drop it locally |
    /// | `zoneNotFound` | a record | create the zone, or drop it locally |
    /// | `permissionFailure` | a record | ask for access |
    /// | `limitExceeded` | the request | ask for fewer records |
    /// | `notAuthenticated` | the request | sign in |
    /// | `requestRateLimited`, `serviceUnavailable` | the request | wait `retryAfterSeconds` |
    /// | `networkFailure`, `networkUnavailable` | the request | repeat later |
    ///
    /// - Shape: At most 400 records, else `limitExceeded`.
    /// - Parameters:
    ///   - ids: The IDs; one that is named several times is fetched once.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    /// - Returns: A result for each ID.
    /// - Throws: `CKError` if the whole request failed, see the table.
    /// - Source: Apple's `CKDatabase.records(for:desiredKeys:)`.
    public func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await self.results { RecordFetch(ids, desiredKeys: desiredKeys, scope: $0) }.values
    }

    /// Saves and deletes records in one request; see `modifyRecords(saving:deleting:)`.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save.
    ///   - recordIDsToDelete: The IDs of the records to delete.
    ///   - savePolicy: What to do if others have changed a record meanwhile.
    ///   - atomically: Whether all items of a custom zone succeed or none.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each item, or
    ///     with the error of the whole request.
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

    /// Saves and deletes records in one request.
    ///
    /// It throws only if the whole request fails, so look at the result of each item:
    ///
    /// ```swift
    /// let (saveResults, deleteResults) = try await database.modifyRecords(
    ///     saving: [list, item],
    ///     deleting: [old]
    /// )
    /// for case (let id, .failure(let error)) in saveResults { print(id.recordName, error) }
    /// for case (let id, .failure(let error)) in deleteResults { print(id.recordName, error) }
    /// ```
    ///
    /// | error | of | what to do |
    /// |---|---|---|
    /// | `serverRecordChanged` | a record | merge into `serverRecord`, and save that |
    /// | `batchRequestFailed` | a record | correct the item at fault, then send all again |
    /// | `zoneNotFound` | a record | create the zone |
    /// | `referenceViolation` | a record | add the target to the request, or save it first |
    /// | `invalidArguments` | a record | correct the field or the schema that the text names |
    /// | `invalidArguments` | the request | name each record once |
    /// | `limitExceeded` | the request | send half of the items |
    /// | `quotaExceeded` | a record | delete data, or ask the operator for more room |
    /// | `requestRateLimited`, `serviceUnavailable` | the request | wait `retryAfterSeconds` |
    /// | `networkFailure`, `serverResponseLost` | the request | repeat; expect own conflicts |
    ///
    /// - Shape: At most 400 items and 2 MiB.
    /// - Atomicity: With `atomically`, all or none within each custom zone.
    /// - Durability: A successful item is on the server's disk.
    /// - Parameters:
    ///   - recordsToSave: The records to save.
    ///   - recordIDsToDelete: The IDs of the records to delete.
    ///   - savePolicy: What to do if others have changed a record meanwhile.
    ///   - atomically: Whether all items of a custom zone succeed or none.
    /// - Returns: A result for each item, also if an atomic batch fails.
    /// - Throws: `CKError` if the whole request failed, see the table.
    /// - Source: Apple's `CKDatabase.modifyRecords(saving:deleting:savePolicy:atomically:)`.
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
