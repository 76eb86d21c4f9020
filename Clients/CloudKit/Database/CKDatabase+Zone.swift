// Zones, one at a time and all of them.
extension CKDatabase {
    /// Fetches all zones of the database; see `allRecordZones()`.
    ///
    /// - Parameter completionHandler: Called once, on a queue of its own, with the zones or the
    ///   error.
    @preconcurrency public func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
    ) {
        self.deliver({ ZoneFetch(nil, scope: $0) }) { results in
            results.map { $0.values.values.compactMap { try? $0.get() } }.report(to: completionHandler)
        }
    }

    /// Returns all zones of the database, including the default zone, in no particular order.
    ///
    /// - Throws: `CKError`: `notAuthenticated` if no user is signed in, except in the public
    ///   database; `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat later).
    /// - Source: Apple's `CKDatabase.allRecordZones()`.
    public nonisolated(nonsending) func allRecordZones() async throws -> [CKRecordZone] {
        try await self.results { ZoneFetch(nil, scope: $0) }.values.values.compactMap { try? $0.get() }
    }

    /// Fetches a zone; see `recordZone(for:)`.
    ///
    /// - Parameters:
    ///   - zoneID: The zone's ID.
    ///   - completionHandler: Called once, on a queue of its own, with the zone or the error.
    @preconcurrency public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        self.deliver({ ZoneFetch([zoneID], scope: $0) }) { results in
            results.flatMap(\.onlyValue).report(to: completionHandler)
        }
    }

    /// Fetches a zone.
    ///
    /// - Parameter zoneID: The zone's ID.
    /// - Returns: The zone.
    /// - Throws: `CKError`: `zoneNotFound` if the zone does not exist (create it);
    ///   `notAuthenticated` if no user is signed in, except in the public database;
    ///   `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat later).
    /// - Source: Apple's `CKDatabase.recordZone(for:)`.
    public nonisolated(nonsending) func recordZone(
        for zoneID: CKRecordZone.ID
    ) async throws -> CKRecordZone {
        try await self.results { ZoneFetch([zoneID], scope: $0) }.onlyValue.get()
    }

    /// Creates a zone; see `save(_:)`.
    ///
    /// - Parameters:
    ///   - zone: The zone.
    ///   - completionHandler: Called once, on a queue of its own, with the zone or the error.
    @preconcurrency public func save(
        _ zone: CKRecordZone,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        self.deliver {
            scope throws(CKError) in
            try ZoneModification(saving: [zone], deleting: [], scope: scope)
        } to: { results in
            results.flatMap(\.onlyValue).report(to: completionHandler)
        }
    }

    /// Creates a zone; creating one that exists succeeds.
    ///
    /// - Parameter zone: The zone.
    /// - Returns: The zone, as the server has it.
    /// - Throws: `CKError`: `badDatabase` if the database is public or shared (use the private
    ///   one); `serverRejectedRequest` if the zone exists with the other encryption scope;
    ///   `invalidArguments` for the default zone, or a name that breaks the rule; `limitExceeded`
    ///   above 10,000 zones; `notAuthenticated` (sign in); `requestRateLimited`,
    ///   `serviceUnavailable` or `networkFailure` (repeat later).
    /// - Source: Apple's `CKDatabase.save(_:)`.
    @discardableResult
    public nonisolated(nonsending) func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await self.results { scope throws(CKError) in
            try ZoneModification(saving: [zone], deleting: [], scope: scope)
        }.onlyValue.get()
    }

    /// Deletes a zone with everything in it; see `deleteRecordZone(withID:)`.
    ///
    /// - Parameters:
    ///   - zoneID: The zone's ID.
    ///   - completionHandler: Called once, on a queue of its own, with the ID or the error.
    @preconcurrency public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        self.deliver {
            scope throws(CKError) in
            try ZoneModification(saving: [], deleting: [zoneID], scope: scope)
        } to: { results in
            results.flatMap(\.onlyDeletion).report(to: completionHandler)
        }
    }

    /// Deletes a zone with everything in it; deleting one that does not exist succeeds.
    ///
    /// - Parameter zoneID: The zone's ID.
    /// - Returns: The same ID.
    /// - Throws: `CKError`: `invalidArguments` for the default zone; `badDatabase` in the public
    ///   database; `notAuthenticated` (sign in); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later): a second deletion succeeds.
    /// - Source: Apple's `CKDatabase.deleteRecordZone(withID:)`.
    @discardableResult
    public nonisolated(nonsending) func deleteRecordZone(
        withID zoneID: CKRecordZone.ID
    ) async throws -> CKRecordZone.ID {
        try await self.results { scope throws(CKError) in
            try ZoneModification(saving: [], deleting: [zoneID], scope: scope)
        }.onlyDeletion.get()
    }
}
