package import RecordModel

extension Store {
    /// Reads records by ID: every write that was acknowledged before the call is seen.
    ///
    /// A short read may be answered on the caller's thread; a long one hops to a thread of the engine.
    ///
    /// - Shape: Any number of IDs; all results come from one snapshot, one an ID, in order. Without
    ///   `desiredKeys` records come with all fields, with an empty list without any.
    package func fetchRecords(
        _ ids: [RecordID],
        desiredKeys: [String]?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        self.engine.fetchRecords(ids, desiredKeys: desiredKeys, for: requester, reply: reply)
    }

    /// Reads zones: those asked for, in order, or all of the database, by name.
    package func fetchZones(
        _ selection: FetchZones.Selection,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        self.engine.fetchZones(selection, for: requester, reply: reply)
    }

    /// Says where URLs of shares lead: one result a token, in order.
    package func fetchShareMetadata(
        _ fetch: FetchShareMetadata,
        container: String,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        self.engine.fetchShareMetadata(fetch, container: container, for: requester, reply: reply)
    }

    /// Looks for people to invite: one result a lookup, in order.
    package func fetchShareParticipants(
        _ lookups: [IdentityLookup],
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        self.engine.fetchShareParticipants(lookups, for: requester, reply: reply)
    }

    /// Says who may do what with a record of the requester's database, and why; `nil` if there is none.
    ///
    /// For an operator: nothing is checked.
    package func accessReport(
        on id: RecordID,
        in requester: Requester,
        reply: @escaping @Sendable (Result<AccessReport?, StoreError>) -> Void
    ) {
        self.engine.accessReport(on: id, in: requester, reply: reply)
    }

    /// Finds records, a page at a time: every write that was acknowledged before the call is seen.
    ///
    /// A short query may be answered on the caller's thread, a long one on a thread of the engine. A
    /// page is one snapshot. The pages of a query are not, but no record that stays as it is comes
    /// twice or is left out.
    package func query(
        _ read: QueryRead,
        for requester: Requester,
        reply: @escaping @Sendable (Result<QueryAnswer, StoreError>) -> Void
    ) {
        self.engine.query(read, for: requester, reply: reply)
    }

    /// Reads what changed in a zone after a token, a page at a time: every write that was acknowledged
    /// before the call is seen.
    ///
    /// A page is one snapshot. It is read on a thread of the engine, on which `sink` takes the items
    /// before the reply comes.
    package func changes(
        _ read: FeedRead,
        for requester: Requester,
        into sink: any FeedSink,
        reply: @escaping @Sendable (Result<FeedAnswer, StoreError>) -> Void
    ) {
        self.engine.changes(read, for: requester, into: sink, reply: reply)
    }

    /// Reads which zones changed after a token, a page at a time.
    package func databaseChanges(
        _ read: DatabaseFeedRead,
        for requester: Requester,
        into sink: any FeedSink,
        reply: @escaping @Sendable (Result<FeedAnswer, StoreError>) -> Void
    ) {
        self.engine.databaseChanges(read, for: requester, into: sink, reply: reply)
    }

    /// Gives the token for now, of a zone or of the database: a page after it has what is acknowledged
    /// after the call.
    ///
    /// May be answered on the caller's thread.
    package func token(
        of zone: ZoneID?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[UInt8], StoreError>) -> Void
    ) {
        self.engine.token(of: zone, for: requester, reply: reply)
    }
}
