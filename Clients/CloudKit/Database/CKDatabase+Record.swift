// One record at a time.
extension CKDatabase {
    /// Fetches a record.
    ///
    /// Missing: `unknownItem`; its zone missing: `zoneNotFound`.
    @preconcurrency public func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        self.deliver({ RecordFetch([recordID], desiredKeys: nil, scope: $0) }) { results in
            results.flatMap(\.onlyValue).tell(completionHandler)
        }
    }

    /// The record.
    ///
    /// Missing: `unknownItem`; its zone missing: `zoneNotFound`.
    public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        try await self.results { RecordFetch([recordID], desiredKeys: nil, scope: $0) }.onlyValue.get()
    }

    /// Saves a record's changes.
    ///
    /// Changed by others meanwhile: `serverRecordChanged`, with the server's record.
    @preconcurrency public func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        self.deliver({ scope throws(CKError) in try Self.saving(record, scope) }) { results in
            results.flatMap(\.onlyValue).tell(completionHandler)
        }
    }

    /// Saves a record's changes.
    ///
    /// Changed by others meanwhile: `serverRecordChanged`, with the server's record.
    ///
    /// - Returns: The same object, with its new change tag and dates.
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        try await self.results { scope throws(CKError) in try Self.saving(record, scope) }.onlyValue.get()
    }

    /// Deletes a record and what refers to it with `deleteSelf`.
    ///
    /// Deleting what does not exist succeeds.
    @preconcurrency public func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        self.deliver({ scope throws(CKError) in try Self.deleting(recordID, scope) }) { results in
            results.flatMap(\.onlyDeletion).tell(completionHandler)
        }
    }

    /// Deletes a record and what refers to it with `deleteSelf`.
    ///
    /// Deleting what does not exist succeeds.
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        try await self.results { scope throws(CKError) in try Self.deleting(recordID, scope) }.onlyDeletion
            .get()
    }

    private static func saving(
        _ record: CKRecord,
        _ scope: DatabaseScopeModel
    ) throws(CKError) -> RecordModification {
        try RecordModification(
            saving: [record],
            deleting: [],
            policy: .ifServerRecordUnchanged,
            isAtomic: true,
            scope: scope
        )
    }

    private static func deleting(
        _ id: CKRecord.ID,
        _ scope: DatabaseScopeModel
    ) throws(CKError) -> RecordModification {
        try RecordModification(
            saving: [],
            deleting: [id],
            policy: .ifServerRecordUnchanged,
            isAtomic: true,
            scope: scope
        )
    }
}

extension Result where Failure == any Error {
    /// Hands the result to a handler in Apple's older form.
    func tell(_ handler: (Success?, (any Error)?) -> Void) {
        switch self {
        case .success(let value): handler(value, nil)
        case .failure(let error): handler(nil, error)
        }
    }
}
