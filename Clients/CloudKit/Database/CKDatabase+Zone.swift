// One zone at a time, and all of them.
extension CKDatabase {
    /// Fetches all zones of the database, the default zone among them.
    ///
    /// In no particular order.
    @preconcurrency public func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
    ) {
        self.deliver({ ZoneFetch(nil, scope: $0) }) { results in
            results.map { $0.values.values.compactMap { try? $0.get() } }.tell(completionHandler)
        }
    }

    /// All zones of the database, the default zone among them.
    ///
    /// In no particular order.
    public func allRecordZones() async throws -> [CKRecordZone] {
        try await self.results { ZoneFetch(nil, scope: $0) }.values.values.compactMap { try? $0.get() }
    }

    /// Fetches a zone.
    ///
    /// Missing: `zoneNotFound`.
    @preconcurrency public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        self.deliver({ ZoneFetch([zoneID], scope: $0) }) { results in
            results.flatMap(\.onlyValue).tell(completionHandler)
        }
    }

    /// The zone.
    ///
    /// Missing: `zoneNotFound`.
    public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        try await self.results { ZoneFetch([zoneID], scope: $0) }.onlyValue.get()
    }

    /// Creates a zone.
    ///
    /// Creating one that exists succeeds; `badDatabase` outside private databases.
    @preconcurrency public func save(
        _ zone: CKRecordZone,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        self.deliver {
            scope throws(CKError) in
            try ZoneModification(saving: [zone], deleting: [], scope: scope)
        } to: { results in
            results.flatMap(\.onlyValue).tell(completionHandler)
        }
    }

    /// Creates a zone.
    ///
    /// Creating one that exists succeeds; `badDatabase` outside private databases.
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await self.results { scope throws(CKError) in
            try ZoneModification(saving: [zone], deleting: [], scope: scope)
        }.onlyValue.get()
    }

    /// Deletes a zone with everything in it.
    ///
    /// Deleting a zone that does not exist succeeds.
    @preconcurrency public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        self.deliver {
            scope throws(CKError) in
            try ZoneModification(saving: [], deleting: [zoneID], scope: scope)
        } to: { results in
            results.flatMap(\.onlyDeletion).tell(completionHandler)
        }
    }

    /// Deletes a zone with everything in it.
    ///
    /// Deleting a zone that does not exist succeeds.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        try await self.results { scope throws(CKError) in
            try ZoneModification(saving: [], deleting: [zoneID], scope: scope)
        }.onlyDeletion.get()
    }
}
