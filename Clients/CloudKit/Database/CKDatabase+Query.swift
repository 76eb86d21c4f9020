private import WireProtocol

// Queries.
extension CKDatabase {
    /// The records of a page in order, and the cursor for the next one.
    public typealias QueryPage = (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
    )

    /// Finds records; see `CKQueryOperation`.
    ///
    /// - Parameters:
    ///   - query: What to look for.
    ///   - zoneID: Where: `nil` in all zones of the database.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    ///   - resultsLimit: The most records of this page.
    /// - Returns: The records in order, and the cursor for the next page, `nil` when there are no more.
    /// - Throws: Why the query failed.
    public func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> QueryPage {
        try await self.results { scope throws(CKError) in
            RecordQuery(
                .query(try query.modelQuery(), zone: zoneID),
                desiredKeys: desiredKeys,
                limit: resultsLimit,
                scope: scope
            )
        }.page
    }

    /// Goes on with a query.
    ///
    /// - Parameters:
    ///   - queryCursor: From the page before; holds query and zone.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    ///   - resultsLimit: The most records of this page.
    /// - Returns: The records in order, and the cursor for the next page, `nil` when there are no more.
    /// - Throws: Why the query failed; `invalidArguments` when the cursor is older than a day or another user's.
    public func records(
        continuingMatchFrom queryCursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> QueryPage {
        try await self.results {
            RecordQuery(.cursor(queryCursor), desiredKeys: desiredKeys, limit: resultsLimit, scope: $0)
        }.page
    }

    /// Finds records and returns the first page.
    ///
    /// Deprecated by Apple.
    ///
    /// - Parameters:
    ///   - query: What to look for.
    ///   - zoneID: Where: `nil` in all zones of the database.
    /// - Returns: The first page of records, in order.
    /// - Throws: Why the query failed.
    @_disfavoredOverload
    public func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?
    ) async throws -> [CKRecord] {
        let page: QueryPage = try await self.records(
            matching: query,
            inZoneWith: zoneID,
            desiredKeys: nil,
            resultsLimit: CKQueryOperation.maximumResults
        )
        return try page.matchResults.map { try $0.1.get() }
    }

    /// Finds records; see `CKQueryOperation`.
    ///
    /// - Parameters:
    ///   - query: What to look for.
    ///   - zoneID: Where: `nil` in all zones of the database.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    ///   - resultsLimit: The most records of this page.
    ///   - completionHandler: Told the page, or why the query failed.
    @preconcurrency public func fetch(
        withQuery query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler: @escaping @Sendable (Result<QueryPage, any Error>) -> Void
    ) {
        self.deliver { scope throws(CKError) in
            RecordQuery(
                .query(try query.modelQuery(), zone: zoneID),
                desiredKeys: desiredKeys,
                limit: resultsLimit,
                scope: scope
            )
        } to: { results in
            completionHandler(results.map(\.page))
        }
    }

    /// Goes on with a query.
    ///
    /// - Parameters:
    ///   - queryCursor: From the page before; holds query and zone.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    ///   - resultsLimit: The most records of this page.
    ///   - completionHandler: Told the page, or why the query failed.
    @preconcurrency public func fetch(
        withCursor queryCursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler: @escaping @Sendable (Result<QueryPage, any Error>) -> Void
    ) {
        self.deliver {
            RecordQuery(.cursor(queryCursor), desiredKeys: desiredKeys, limit: resultsLimit, scope: $0)
        } to: { results in
            completionHandler(results.map(\.page))
        }
    }

    /// Finds records.
    ///
    /// Deprecated by Apple.
    ///
    /// - Parameters:
    ///   - query: What to look for.
    ///   - zoneID: Where: `nil` in all zones of the database.
    ///   - completionHandler: Told the first page of records in order, or why the query failed.
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
    /// Counts the records that meet a query, without fetching any.
    ///
    /// Beyond CloudKit. A large number takes several round trips, and is then of no single moment.
    ///
    /// - Parameters:
    ///   - query: What to look for; its sort descriptors don't matter.
    ///   - zoneID: Where: `nil` in all zones of the database.
    /// - Returns: How many there are.
    /// - Throws: Why the query failed.
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

extension BatchResults<RecordQuery> {
    fileprivate var page: CKDatabase.QueryPage {
        let matches = self.order.compactMap { id in self.values[id].map { (id, $0) } }
        return (matchResults: matches, queryCursor: self.end.queryCursor)
    }
}
