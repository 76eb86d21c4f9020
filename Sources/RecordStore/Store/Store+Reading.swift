package import RecordModel
package import StorageContract

extension Store {
    /// Reads records by ID: every write that was acknowledged before the call is seen.
    ///
    /// A short read may reply on the caller's thread; a long one hops to a thread of the engine.
    ///
    /// - Shape: Any number of IDs; all items come from one snapshot. The sink takes one an ID, in
    ///   order, before the reply. Without `desiredKeys` records come with all fields, with an empty
    ///   list without any.
    package func fetchRecords(
        _ ids: [RecordID],
        desiredKeys: [String]?,
        for requester: Requester,
        into sink: any FetchSink,
        reply: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        let rules = self.readRules
        let effort = Self.effort(ids.count <= rules.shortRecordsMax)
        self.read(effort, for: requester, prefetch: self.prefetch(ids, for: requester), into: sink, reply) {
            (snapshot) throws(StorageFailure) in
            var execution = FetchExecution(
                for: requester,
                desiredKeys: desiredKeys,
                bytesMax: rules.responseBytesMax,
                snapshot: snapshot,
                into: sink
            )
            return try execution.fetch(ids)
        }
    }

    /// The same with copies of the records, for callers that look at them.
    package func fetchRecords(
        _ ids: [RecordID],
        desiredKeys: [String]?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        let found = FetchedRecords()
        self.fetchRecords(ids, desiredKeys: desiredKeys, for: requester, into: found) {
            reply($0.map { found.outcomes })
        }
    }

    /// Reads zones: those asked for, in order, or all of the database, by name.
    package func fetchZones(
        _ selection: FetchZones.Selection,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        let rules = self.readRules
        let isShort =
            switch selection {
            case .ids(let ids): ids.count <= rules.shortRecordsMax
            case .all: false
            }
        let prefetch = self.engine.prefetches ? ZonesExecution.prefetch(selection, for: requester) : nil
        self.read(
            Self.effort(isShort),
            for: requester,
            prefetch: prefetch,
            needsPendingChanges: true,
            reply
        ) { (snapshot) throws(StorageFailure) in
            try ZonesExecution(for: requester, bytesMax: rules.responseBytesMax, snapshot: snapshot)
                .outcomes(selection)
        }
    }

    /// Finds the files of assets that one record names, if the requester may read it.
    ///
    /// Replies with one asset a hash, in order. Fails as a fetch of the record does, and with
    /// `assetNotNamed` for the first hash that the record does not name.
    package func locateAssets(
        _ hashes: [[UInt8]],
        of record: RecordID,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[StoredAsset], StoreError>) -> Void
    ) {
        let rules = self.readRules
        let effort = Self.effort(hashes.count <= rules.shortRecordsMax)
        self.read(effort, for: requester, prefetch: self.prefetch([record], for: requester), reply) {
            (snapshot) throws(StorageFailure) in
            try LocateExecution(for: requester, bytesMax: rules.responseBytesMax, snapshot: snapshot)
                .assets(hashes, of: record)
        }
    }

    /// Reads the requester's subscriptions in one database: those asked for, in order, or all by ID.
    package func fetchSubscriptions(
        _ selection: FetchSubscriptions.Selection,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[SubscriptionOutcome], StoreError>) -> Void
    ) {
        guard let owner = requester.userRecordName else { return reply(.failure(.notSignedIn)) }
        let rules = self.readRules
        let isShort =
            switch selection {
            case .ids(let ids): ids.count <= rules.shortRecordsMax
            case .all: false
            }
        self.read(Self.effort(isShort), for: requester, reply) { (snapshot) throws(StorageFailure) in
            try SubscriptionsExecution(
                of: owner,
                in: requester.database,
                bytesMax: rules.responseBytesMax,
                snapshot: snapshot
            ).outcomes(selection)
        }
    }

    /// Says where URLs of shares lead: one result a token, in order.
    package func fetchShareMetadata(
        _ fetch: FetchShareMetadata,
        container: String,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        let rules = self.readRules
        let effort = Self.effort(fetch.tokens.count <= 1)
        self.read(effort, for: requester, reply) { (snapshot) throws(StorageFailure) in
            var execution = ShareMetadataExecution(
                for: requester,
                container: container,
                bytesMax: rules.responseBytesMax,
                snapshot: snapshot
            )
            return try execution.metadata(fetch).map { results in
                results.map { result in
                    switch result {
                    case .success(let metadata): .shareMetadata(metadata)
                    case .failure(let error): .failed(error)
                    }
                }
            }
        }
    }

    /// Finds users who can be invited: one result a lookup, in order.
    package func fetchShareParticipants(
        _ lookups: [IdentityLookup],
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        let effort = Self.effort(lookups.count <= 4)
        self.read(effort, for: requester, reply) { (snapshot) throws(StorageFailure) in
            let execution = ShareMetadataExecution(
                for: requester,
                container: "",
                bytesMax: 0,
                snapshot: snapshot
            )
            return .success(
                try execution.participants(lookups).map { result in
                    switch result {
                    case .success(let identity): .identity(identity)
                    case .failure(let error): .failed(error)
                    }
                }
            )
        }
    }

    /// Says who may do what with a record of the requester's database, and why; `nil` if there is none.
    ///
    /// For an operator: nothing is checked.
    package func accessReport(
        on id: RecordID,
        in requester: Requester,
        reply: @escaping @Sendable (Result<AccessReport?, StoreError>) -> Void
    ) {
        self.read(.short, for: requester, reply) { (snapshot) throws(StorageFailure) in
            .success(try AccessReport(of: id, in: requester, snapshot: snapshot))
        }
    }

    /// Reports what the store knows of a record, and which installations have it, if the requester
    /// may read it.
    ///
    /// Fails as a fetch of the record does. An operator sees every user and installation.
    package func explain(
        _ id: RecordID,
        for requester: Requester,
        reply: @escaping @Sendable (Result<RecordExplanation, StoreError>) -> Void
    ) {
        let seen = self.deliveries.seen
        let prefetch = self.prefetch([id], for: requester)
        self.read(.long, for: requester, prefetch: prefetch, needsPendingChanges: true, reply) {
            (snapshot) throws(StorageFailure) in
            // Rows that are written meanwhile rest in memory for longer than a snapshot lives.
            try ExplainExecution(for: requester, snapshot: snapshot, unwritten: seen)
                .explanation(of: id)
        }
    }

    private func prefetch(_ ids: [RecordID], for requester: Requester) -> Prefetch? {
        self.engine.prefetches ? Prefetch(records: Prefetch.Records.named(ids, by: requester)) : nil
    }

    private static func effort(_ isShort: Bool) -> ReadJob.Effort { isShort ? .short : .long }

    /// Has the engine read one snapshot, and replies.
    ///
    /// Inlined: else each closure would be wrapped in another that suits a generic function.
    @inline(__always)
    func read<Value: Sendable>(
        _ effort: ReadJob.Effort,
        for requester: Requester,
        prefetch: Prefetch? = nil,
        into sink: (any RecordSink)? = nil,
        needsPendingChanges: Bool = false,
        _ reply: @escaping @Sendable (Result<Value, StoreError>) -> Void,
        _ read: @escaping @Sendable (any Snapshot) throws(StorageFailure) -> Result<Value, StoreError>
    ) {
        do throws(StoreError) {
            try Access.checkReading(by: requester)
        } catch {
            return reply(.failure(error))
        }
        var job = ReadJob(requester: requester, effort: effort) {
            (snapshot, _) throws(StorageFailure) in
            let result = try read(snapshot)
            return { reply(result) }
        } fail: { failure in
            reply(.failure(StoreError(failure)))
        }
        job.sink = sink
        job.prefetch = prefetch
        guard needsPendingChanges, requester.scope == .shared else { return self.engine.read(job) }
        PendingMirrors(engine: self.engine).read(job)
    }
}
