private import WireProtocol

// Changes, one page at a time.
extension CKDatabase {
    /// Fetches one page of a zone's changes.
    ///
    /// Store the returned token together with the page: the next call continues from it. Without a
    /// token the pages have everything in the zone.
    ///
    /// ```swift
    /// var isComplete = false
    /// while !isComplete {
    ///     let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
    ///     for (id, result) in changes.modificationResultsByID {
    ///         local[id] = try result.get().record
    ///     }
    ///     for deletion in changes.deletions { local[deletion.recordID] = nil }
    ///     token = changes.changeToken
    ///     isComplete = !changes.moreComing
    /// }
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `changeTokenExpired` | start again with `nil`; vanished records come as deletions |
    /// | `zoneNotFound` | drop the local copy of the zone, or create the zone |
    /// | `notAuthenticated`, `permissionFailure` | sign in, or ask the owner for access |
    /// | `networkFailure`, `serviceUnavailable` | repeat the call with the same token |
    ///
    /// - Order: A record comes after its parent; changes come in the order in which they were made.
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: The position to continue from. If `nil`, everything in the zone comes.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    ///   - resultsLimit: The largest number of changes on this page, at most 1,000. If `nil`, the
    ///     server decides.
    /// - Returns: The changes, the token to continue from, and whether more changes are ready.
    /// - Throws: `CKError`, see the table.
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil
    ) async throws -> (
        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, any Error>],
        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        try await self.results(
            ZoneChangesPage.asked(zoneID, since: changeToken, keys: desiredKeys, limit: resultsLimit)
        ).changes()
    }

    /// Fetches one page of a zone's changes; see `recordZoneChanges(inZoneWith:since:)`.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: The position to continue from. If `nil`, everything in the zone comes.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    ///   - resultsLimit: The largest number of changes on this page, at most 1,000. If `nil`, the
    ///     server decides.
    ///   - completionHandler: Called once, on a queue of its own, with the page or the error.
    @preconcurrency public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modificationResultsByID: [CKRecord.ID: Result<
                            RecordZoneChange.Modification, any Error
                        >],
                        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
                        moreComing: Bool
                    ), any Error
                >
            ) -> Void
    ) {
        self.deliver(
            ZoneChangesPage.asked(zoneID, since: changeToken, keys: desiredKeys, limit: resultsLimit)
        ) { results in
            completionHandler(Result { try results.get().changes() })
        }
    }

    /// Fetches one page of the zones that changed or were deleted.
    ///
    /// A zone is on the page if a record in it changed. Fetch the changes of that zone next, and
    /// store the token after that.
    ///
    /// ```swift
    /// let changes = try await database.databaseChanges(since: token)
    /// for deletion in changes.deletions { drop(deletion.zoneID) }
    /// for zone in changes.modifications { try await fetchChanges(in: zone.zoneID) }
    /// token = changes.changeToken
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `changeTokenExpired` | start again with `nil`; vanished zones come as deletions |
    /// | `notAuthenticated`, `permissionFailure` | sign in, or ask the operator for access |
    /// | `networkFailure`, `serviceUnavailable` | repeat the call with the same token |
    ///
    /// - Order: Zones come in the order of their latest changes.
    /// - Parameters:
    ///   - changeToken: The position to continue from. If `nil`, all zones of the database come.
    ///   - resultsLimit: The largest number of zones on this page. If `nil`, the server decides.
    /// - Returns: The zones, the token to continue from, and whether more changes are ready.
    /// - Throws: `CKError`, see the table.
    public func databaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil
    ) async throws -> (
        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        try await self.results {
            DatabaseChangesPage(since: changeToken, limit: resultsLimit, scope: $0)
        }.changes()
    }

    /// Fetches one page of the zones that changed or were deleted; see `databaseChanges(since:)`.
    ///
    /// - Parameters:
    ///   - changeToken: The position to continue from. If `nil`, all zones of the database come.
    ///   - resultsLimit: The largest number of zones on this page. If `nil`, the server decides.
    ///   - completionHandler: Called once, on a queue of its own, with the page or the error.
    @preconcurrency public func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
                        changeToken: CKServerChangeToken, moreComing: Bool
                    ), any Error
                >
            ) -> Void
    ) {
        self.deliver {
            DatabaseChangesPage(since: changeToken, limit: resultsLimit, scope: $0)
        } to: { results in
            completionHandler(Result { try results.get().changes() })
        }
    }
}

extension ZoneChangesPage {
    /// Returns what makes the request for one page.
    fileprivate static func asked(
        _ zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        keys: [CKRecord.FieldKey]?,
        limit: Int?
    ) -> (DatabaseScopeModel) -> ZoneChangesPage {
        { ZoneChangesPage(zoneID, since: token, desiredKeys: keys, limit: limit, scope: $0) }
    }
}

extension BatchResults<ZoneChangesPage> {
    func changes() throws(CKError) -> CKDatabase.RecordZoneChanges {
        var modifications: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>] = [:]
        var deletions: [CKDatabase.RecordZoneChange.Deletion] = []
        for id in self.order {
            switch self.values[id] {
            case .success(.saved(let record)): modifications[id] = .success(.init(record: record))
            case .success(.deleted(let type)): deletions.append(.init(recordID: id, recordType: type))
            case .failure(let error): modifications[id] = .failure(error)
            case nil: break
            }
        }
        let token = try self.end.changeToken
        return (modifications, deletions, changeToken: token, moreComing: self.end.moreComing)
    }
}

extension BatchResults<DatabaseChangesPage> {
    func changes() throws(CKError) -> CKDatabase.DatabaseChanges {
        var modifications: [CKDatabase.DatabaseChange.Modification] = []
        var deletions: [CKDatabase.DatabaseChange.Deletion] = []
        for id in self.order {
            switch self.values[id] {
            case .success(.changed): modifications.append(.init(zoneID: id))
            case .success(.deleted): deletions.append(.init(zoneID: id, reason: .deleted))
            case .failure, nil: break
            }
        }
        let token = try self.end.changeToken
        return (modifications, deletions, changeToken: token, moreComing: self.end.moreComing)
    }
}
