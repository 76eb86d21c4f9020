private import WireProtocol

// Changes, a page at a time.
extension CKDatabase {
    /// Fetches a page of what changed in a zone; see `CKFetchRecordZoneChangesOperation`.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: Where to begin; `nil`: with all that is in the zone.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    ///   - resultsLimit: The most changes of this page; `nil`: as many as the server gives.
    /// - Returns: The changes, the token to go on from, and whether there is more already.
    /// - Throws: Why there are none: `changeTokenExpired` when the token is too old or another zone's, `zoneNotFound`.
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil
    ) async throws -> RecordZoneChanges {
        try await self.results {
            ZoneChangesPage(
                zoneID,
                since: changeToken,
                desiredKeys: desiredKeys,
                limit: resultsLimit,
                scope: $0
            )
        }.changes()
    }

    /// Fetches a page of what changed in a zone; see `CKFetchRecordZoneChangesOperation`.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: Where to begin; `nil`: with all that is in the zone.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    ///   - resultsLimit: The most changes of this page; `nil`: as many as the server gives.
    ///   - completionHandler: Told the changes, the token to go on from and whether there is more already, or why there are none.
    @preconcurrency public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil,
        completionHandler: @escaping @Sendable (Result<RecordZoneChanges, any Error>) -> Void
    ) {
        self.deliver {
            ZoneChangesPage(
                zoneID,
                since: changeToken,
                desiredKeys: desiredKeys,
                limit: resultsLimit,
                scope: $0
            )
        } to: { results in
            completionHandler(Result { try results.get().changes() })
        }
    }

    /// Fetches a page of which zones changed; see `CKFetchDatabaseChangesOperation`.
    ///
    /// - Parameters:
    ///   - changeToken: Where to begin; `nil`: with all zones that there are.
    ///   - resultsLimit: The most zones of this page; `nil`: as many as the server gives.
    /// - Returns: The zones, the token to go on from, and whether there is more already.
    /// - Throws: Why there are none: `changeTokenExpired` when the token is too old or another database's.
    public func databaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil
    ) async throws -> DatabaseChanges {
        try await self.results {
            DatabaseChangesPage(since: changeToken, limit: resultsLimit, scope: $0)
        }.changes()
    }

    /// Fetches a page of which zones changed; see `CKFetchDatabaseChangesOperation`.
    ///
    /// - Parameters:
    ///   - changeToken: Where to begin; `nil`: with all zones that there are.
    ///   - resultsLimit: The most zones of this page; `nil`: as many as the server gives.
    ///   - completionHandler: Told the zones, the token to go on from and whether there is more already, or why there are none.
    @preconcurrency public func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil,
        completionHandler: @escaping @Sendable (Result<DatabaseChanges, any Error>) -> Void
    ) {
        self.deliver {
            DatabaseChangesPage(since: changeToken, limit: resultsLimit, scope: $0)
        } to: { results in
            completionHandler(Result { try results.get().changes() })
        }
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
