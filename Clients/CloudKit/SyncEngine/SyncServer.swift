import RecordModel

private import RecordClient
private import WireProtocol

/// The requests of an engine to its server.
struct SyncServer: Sendable {
    /// The results of changes of zones that were sent together.
    typealias ZoneResults = BatchResults<ZoneModification>
    /// The results of changes of records that were sent together.
    typealias RecordResults = BatchResults<RecordModification>

    /// The longest wait for the server's response to the token.
    private static let accountTimeout = Duration.seconds(60)

    let database: CKDatabase
    /// `nil` if any subscription of the database will do.
    let subscriptionID: CKSubscription.ID?

    /// Returns the record name of the user; `nil` if there is no token, or if the server refuses
    /// it.
    func user() async throws(CKError) -> String? {
        let session = try self.database.access.session()
        guard session.isSignedIn else { return nil }
        let welcome: Welcome
        do throws(ClientError) {
            welcome = try await session.client.welcome(timeout: Self.accountTimeout)
            session.note(welcome)
        } catch {
            session.note(error)
            if error.isOfCredential { return nil }
            throw CKError(error)
        }
        guard !welcome.isRestricted else {
            throw .local(.managedAccountRestricted, "The operator has restricted the user's account")
        }
        return welcome.userRecordName.isEmpty ? nil : welcome.userRecordName
    }

    /// The container, environment and scope of the database, which its state belongs to.
    func home() throws(CKError) -> String {
        let environment = try self.database.access.session().environment.rawValue
        let scope = self.database.databaseScope == .private ? "private" : "shared"
        return "\(self.database.access.identifier ?? "")/\(environment)/\(scope)"
    }

    func databaseChanges(
        since token: CKServerChangeToken?,
        group: CKOperationGroup
    ) async throws -> CKDatabase.DatabaseChanges {
        let results = try await self.database.configured(nil, group).results {
            DatabaseChangesPage(since: token, limit: nil, reader: .engine, scope: $0)
        }
        let changes = try results.changes()
        let isEmpty = changes.modifications.isEmpty && changes.deletions.isEmpty
        if changes.moreComing, isEmpty, changes.changeToken == token { throw CKError.feedStandsStill }
        return changes
    }

    func zoneChanges(
        of zone: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        isAhead: Bool,
        group: CKOperationGroup
    ) async throws -> ZoneChanges {
        let results = try await self.database.configured(nil, group).results {
            let page = ZoneChangesPage(zone, since: token, reader: .engine, scope: $0)
            return if isAhead, let token { page.following(token) } else { page }
        }
        var changes = ZoneChanges(
            modifications: [],
            deletions: [],
            token: try results.end.changeToken,
            moreComing: results.end.moreComing
        )
        changes.modifications.reserveCapacity(results.order.count)
        for id in results.order {
            switch results.values[id] {
            case .success(.saved(let record)): changes.modifications.append(.init(record: record))
            case .success(.deleted(let type)): changes.deletions.append(.init(recordID: id, recordType: type))
            case .failure(let error):
                if let record = try await self.withoutFiles(id, error, group) {
                    changes.modifications.append(.init(record: record))
                }
            case nil: break
            }
        }
        if changes.moreComing, changes.isEmpty, changes.token == token { throw CKError.feedStandsStill }
        return changes
    }

    /// Fetches a record without files if the server does not have them, so that it does not block
    /// other records; after any other file error the page is fetched again.
    ///
    /// - Returns: The record; `nil` if it was deleted, which a later page reports, or is damaged.
    private func withoutFiles(
        _ id: CKRecord.ID,
        _ error: any Error,
        _ group: CKOperationGroup
    ) async throws -> CKRecord? {
        guard let error = error as? CKError else { throw error }
        // One that the server's disk has damaged stays as it is here until it comes again, or goes.
        if error.code == .unknownItem || error.damagedRecordType != nil { return nil }
        guard error.isOfLostFile else { throw error }
        let configuration = CKOperation.Configuration()
        configuration.downloadsAssets = false
        do {
            return try await self.database.configured(configuration, group).record(for: id)
        } catch let error as CKError where error.code == .unknownItem {
            return nil
        }
    }

    func send(
        _ changes: [CKSyncEngine.PendingDatabaseChange],
        group: CKOperationGroup
    ) async throws -> ZoneResults {
        var zones: [CKRecordZone] = []
        var ids: [CKRecordZone.ID] = []
        for change in changes {
            switch change {
            case .saveZone(let zone): zones.append(zone)
            case .deleteZone(let id): ids.append(id)
            }
        }
        let (saves, deletes) = (zones, ids)
        return try await self.database.configured(nil, group).results { scope throws(CKError) in
            try ZoneModification(saving: saves, deleting: deletes, scope: scope)
        }
    }

    func send(
        _ batch: CKSyncEngine.RecordZoneChangeBatch,
        group: CKOperationGroup
    ) async throws -> RecordResults {
        try await self.database.configured(nil, group).results { scope throws(CKError) in
            var modification = try RecordModification(
                saving: batch.recordsToSave,
                deleting: batch.recordIDsToDelete,
                policy: .ifServerRecordUnchanged,
                isAtomic: batch.atomicByZone,
                scope: scope
            )
            modification.reader = .engine
            return modification
        }
    }
}

/// A page of changes of records in a zone.
struct ZoneChanges: Sendable {
    var modifications: [CKDatabase.RecordZoneChange.Modification]
    var deletions: [CKDatabase.RecordZoneChange.Deletion]
    var token: CKServerChangeToken
    var moreComing: Bool

    var isEmpty: Bool { self.modifications.isEmpty && self.deletions.isEmpty }
}
