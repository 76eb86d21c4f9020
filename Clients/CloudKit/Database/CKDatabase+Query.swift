private import WireProtocol

// Queries.
extension CKDatabase {
    /// Finds records, and fetches the first page of them.
    ///
    /// ```swift
    /// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "pages > %d", 10))
    /// query.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
    /// let page = try await database.records(matching: query, resultsLimit: 100)
    /// for (_, result) in page.matchResults { print(try result.get()["text"] ?? "") }
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `invalidArguments` | correct the predicate, or index the field that the text names |
    /// | `zoneNotFound` | create the zone, or leave out `zoneID` |
    /// | `notAuthenticated`, `permissionFailure` | sign in, or ask for access |
    /// | `requestRateLimited`, `serviceUnavailable` | repeat after `retryAfterSeconds` |
    /// | `networkFailure`, `networkUnavailable` | repeat later |
    ///
    /// - Order: That of the sort descriptors. Records without the field come last.
    /// - Consistency: The query sees every save that was acknowledged before it.
    /// - Parameters:
    ///   - query: The record type, the predicate and the order.
    ///   - zoneID: The zone. If `nil`, all zones of the database.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    ///   - resultsLimit: The largest number of records on this page.
    /// - Returns: A result for each record, in order, and the cursor for the next page. The cursor
    ///   is `nil` if there are no more.
    /// - Throws: `CKError`, see the table.
    /// - Source: Apple's `CKDatabase.records(matching:inZoneWith:desiredKeys:resultsLimit:)`.
    public func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        try await self.results(RecordQuery.asked(query, zoneID, desiredKeys, resultsLimit)).page
    }

    /// Fetches the next page of a query.
    ///
    /// ```swift
    /// var page = try await database.records(matching: query)
    /// while let cursor = page.queryCursor {
    ///     page = try await database.records(continuingMatchFrom: cursor)
    ///     print(page.matchResults.count)
    /// }
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `invalidArguments` | start again: the cursor is a day old, or of another user |
    /// | any other | as for `records(matching:)`, with the same cursor |
    ///
    /// - Parameters:
    ///   - queryCursor: The cursor of the page before, which contains query and zone.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    ///   - resultsLimit: The largest number of records on this page.
    /// - Returns: A result for each record, in order, and the cursor for the next page. The cursor
    ///   is `nil` if there are no more.
    /// - Throws: `CKError`, see the table.
    /// - Source: Apple's `CKDatabase.records(continuingMatchFrom:desiredKeys:resultsLimit:)`.
    public func records(
        continuingMatchFrom queryCursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        try await self.results {
            RecordQuery(.cursor(queryCursor), desiredKeys: desiredKeys, limit: resultsLimit, scope: $0)
        }.page
    }

    /// Finds records and returns the first page.
    ///
    /// Deprecated by Apple.
    ///
    /// - Parameters:
    ///   - query: The record type, the predicate and the order.
    ///   - zoneID: The zone. If `nil`, all zones of the database.
    /// - Returns: The first page of records, in order.
    /// - Throws: `CKError` as `records(matching:)`, or that of the first record that failed.
    /// - Source: Apple's `CKDatabase.records(matching:inZoneWith:)`.
    @_disfavoredOverload
    public func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?
    ) async throws -> [CKRecord] {
        let page = try await self.records(matching: query, inZoneWith: zoneID, desiredKeys: nil)
        return try page.matchResults.map { try $0.1.get() }
    }

    /// Finds records, and fetches the first page of them; see `records(matching:)`.
    ///
    /// - Parameters:
    ///   - query: The record type, the predicate and the order.
    ///   - zoneID: The zone. If `nil`, all zones of the database.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    ///   - resultsLimit: The largest number of records on this page.
    ///   - completionHandler: Called once, on a queue of its own, with the page or the error.
    @preconcurrency public func fetch(
        withQuery query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                        queryCursor: CKQueryOperation.Cursor?
                    ), any Error
                >
            ) -> Void
    ) {
        self.deliver(RecordQuery.asked(query, zoneID, desiredKeys, resultsLimit)) { results in
            completionHandler(results.map(\.page))
        }
    }

    /// Fetches the next page of a query; see `records(continuingMatchFrom:)`.
    ///
    /// - Parameters:
    ///   - queryCursor: The cursor of the page before, which contains query and zone.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    ///   - resultsLimit: The largest number of records on this page.
    ///   - completionHandler: Called once, on a queue of its own, with the page or the error.
    @preconcurrency public func fetch(
        withCursor queryCursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                        queryCursor: CKQueryOperation.Cursor?
                    ), any Error
                >
            ) -> Void
    ) {
        self.deliver {
            RecordQuery(.cursor(queryCursor), desiredKeys: desiredKeys, limit: resultsLimit, scope: $0)
        } to: { results in
            completionHandler(results.map(\.page))
        }
    }

    /// Finds records, and fetches the first page of them; see `records(matching:)`.
    ///
    /// Deprecated by Apple.
    ///
    /// - Parameters:
    ///   - query: The record type, the predicate and the order.
    ///   - zoneID: The zone. If `nil`, all zones of the database.
    ///   - completionHandler: Called once, on a queue of its own, with the first page of records in
    ///     order, or the error.
    @preconcurrency public func perform(
        _ query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?,
        completionHandler: @escaping @Sendable ([CKRecord]?, (any Error)?) -> Void
    ) {
        self.fetch(withQuery: query, inZoneWith: zoneID) { result in
            do {
                completionHandler(try result.get().matchResults.map { try $0.1.get() }, nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }
}

// Beyond Apple's surface.
extension CKDatabase {
    /// Counts the records that match a query, without fetching any.
    ///
    /// Beyond CloudKit. A large count takes several round trips, so it does not describe a single
    /// moment.
    ///
    /// - Parameters:
    ///   - query: The record type and the predicate; sort descriptors have no effect.
    ///   - zoneID: The zone. If `nil`, all zones of the database.
    /// - Returns: The number of records.
    /// - Throws: `CKError`, as `records(matching:)`.
    /// - Source: beyond Apple.
    public func recordCount(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil
    ) async throws -> Int {
        var start = RecordQuery.Start.query(try query.modelQuery(), zone: zoneID)
        var count = 0
        while true {
            let from = start
            let end = try await self.results { RecordQuery(from, isCount: true, scope: $0) }.end
            count += Int(clamping: end.count)
            guard let cursor = end.queryCursor else { return count }
            start = .cursor(cursor)
        }
    }
}

extension RecordQuery {
    /// Returns what makes the request for the first page.
    fileprivate static func asked(
        _ query: CKQuery,
        _ zoneID: CKRecordZone.ID?,
        _ keys: [CKRecord.FieldKey]?,
        _ limit: Int
    ) -> (DatabaseScopeModel) throws(CKError) -> RecordQuery {
        { scope throws(CKError) in
            let start = Start.query(try query.modelQuery(), zone: zoneID)
            return RecordQuery(start, desiredKeys: keys, limit: limit, scope: scope)
        }
    }
}

extension BatchResults<RecordQuery> {
    /// The records of a page in order, and the cursor for the next page.
    fileprivate var page:
        (matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?)
    {
        let matches = self.order.compactMap { id in self.values[id].map { (id, $0) } }
        return (matchResults: matches, queryCursor: self.end.queryCursor)
    }
}
