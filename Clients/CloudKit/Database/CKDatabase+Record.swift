// One record at a time.
extension CKDatabase {
    /// Fetches a record; see `record(for:)`.
    ///
    /// - Parameters:
    ///   - recordID: The record's ID.
    ///   - completionHandler: Called once, on a queue of its own, with the record or the error.
    @preconcurrency public func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        self.deliver({ RecordFetch([recordID], desiredKeys: nil, scope: $0) }) { results in
            results.flatMap(\.onlyValue).report(to: completionHandler)
        }
    }

    /// Fetches a record, with the files of its assets.
    ///
    /// ```swift
    /// do {
    ///     let note = try await database.record(for: CKRecord.ID(recordName: "first"))
    ///     print(note["text"] ?? "")
    /// } catch let error as CKError where error.code == .unknownItem {
    ///     print("There is no such note")
    /// }
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `unknownItem` | create the record, or drop it locally |
    /// | `zoneNotFound` | create the zone, or drop it locally |
    /// | `notAuthenticated`, `permissionFailure` | sign in, or ask for access |
    /// | `requestRateLimited`, `serviceUnavailable` | repeat after `retryAfterSeconds` |
    /// | `networkFailure`, `networkUnavailable` | repeat later |
    ///
    /// - Parameter recordID: The record's ID.
    /// - Returns: The record, in its latest state.
    /// - Throws: `CKError`, see the table.
    /// - Source: Apple's `CKDatabase.record(for:)`.
    public nonisolated(nonsending) func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        try await self.results { RecordFetch([recordID], desiredKeys: nil, scope: $0) }.onlyValue.get()
    }

    /// Saves a record's changes; see `save(_:)`.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - completionHandler: Called once, on a queue of its own, with the same record or the
    ///     error.
    @preconcurrency public func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        self.deliver({ scope throws(CKError) in try Self.saving(record, scope) }) { results in
            results.flatMap(\.onlyValue).report(to: completionHandler)
        }
    }

    /// Saves a record's changes.
    ///
    /// Only the fields that changed since the last fetch or save are sent. Files of assets are
    /// uploaded first. The save fails if another client has saved the record meanwhile; merge into
    /// the server's record then:
    ///
    /// ```swift
    /// do {
    ///     try await database.save(note)
    /// } catch let error as CKError where error.code == .serverRecordChanged {
    ///     guard let server = error.serverRecord else { throw error }
    ///     server["text"] = note["text"]
    ///     try await database.save(server)
    /// }
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `serverRecordChanged` | merge into `serverRecord`, and save that |
    /// | `unknownItem` | the record was deleted: save a new one, or drop it |
    /// | `zoneNotFound` | create the zone, and save again |
    /// | `invalidArguments` | correct the field or the schema that the text names |
    /// | `referenceViolation` | save the target of the reference first |
    /// | `quotaExceeded` | delete data, or ask the operator for more room |
    /// | `assetFileNotFound`, `assetFileModified` | set the field to a file that stays unchanged |
    /// | `notAuthenticated`, `permissionFailure` | sign in, or ask for access |
    /// | `requestRateLimited`, `serviceUnavailable`, `zoneBusy` | wait `retryAfterSeconds`, repeat |
    /// | `serverResponseLost`, `networkFailure` | save again; a conflict may be your own save |
    ///
    /// - Durability: Returns after the record is on the server's disk.
    /// - Parameter record: The record.
    /// - Returns: The same object, with its new change tag and dates.
    /// - Throws: `CKError`, see the table.
    /// - Source: Apple's `CKDatabase.save(_:)`.
    @discardableResult
    public nonisolated(nonsending) func save(_ record: CKRecord) async throws -> CKRecord {
        try await self.results { scope throws(CKError) in try Self.saving(record, scope) }.onlyValue.get()
    }

    /// Deletes a record; see `deleteRecord(withID:)`.
    ///
    /// - Parameters:
    ///   - recordID: The record's ID.
    ///   - completionHandler: Called once, on a queue of its own, with the ID or the error.
    @preconcurrency public func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        self.deliver({ scope throws(CKError) in try Self.deleting(recordID, scope) }) { results in
            results.flatMap(\.onlyDeletion).report(to: completionHandler)
        }
    }

    /// Deletes a record, and the records that refer to it with `deleteSelf`.
    ///
    /// Deleting a record that does not exist succeeds. So does deleting a record that others have
    /// changed.
    ///
    /// ```swift
    /// try await database.deleteRecord(withID: note.recordID)
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `zoneNotFound` | nothing: the record is gone with its zone |
    /// | `referenceViolation` | delete the records that name it as their `parent` first |
    /// | `notAuthenticated`, `permissionFailure` | sign in, or ask for access |
    /// | `requestRateLimited`, `serviceUnavailable`, `zoneBusy` | wait `retryAfterSeconds`, repeat |
    /// | `serverResponseLost`, `networkFailure` | repeat: a second deletion succeeds |
    ///
    /// - Durability: Returns after the deletion is on the server's disk.
    /// - Parameter recordID: The record's ID.
    /// - Returns: The same ID.
    /// - Throws: `CKError`, see the table.
    /// - Source: Apple's `CKDatabase.deleteRecord(withID:)`.
    @discardableResult
    public nonisolated(nonsending) func deleteRecord(
        withID recordID: CKRecord.ID
    ) async throws -> CKRecord.ID {
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
    /// Calls a handler of Apple's older form with the result.
    func report(to handler: (Success?, (any Error)?) -> Void) {
        switch self {
        case .success(let value): handler(value, nil)
        case .failure(let error): handler(nil, error)
        }
    }
}
