package import RecordModel
package import StorageContract

/// Reads of pages: queries and feeds.
extension Store {
    /// Finds records, a page at a time: every write that was acknowledged before the call is seen.
    ///
    /// Most queries are short, but the cost of a query is unknown before it is read. So a query is
    /// tried first: on the caller's thread, or in a snapshot with others that wait, if the engine
    /// prefetches. An attempt stops after a few hundred records or a few thousand entries, and the
    /// query starts again alone on a thread of the engine. Others of its kind then go there at once
    /// (`QueryAttempts`). `sink` takes the records on that thread, before the reply.
    ///
    /// A page is one snapshot. The pages of a query are not, but no record that stays as it is comes
    /// twice or is left out.
    package func query(
        _ read: QueryRead,
        for requester: Requester,
        into sink: any RecordSink,
        reply: @escaping @Sendable (Result<QueryPageResult, StoreError>) -> Void
    ) {
        do throws(StoreError) {
            try Access.checkReading(by: requester)
        } catch {
            return reply(.failure(error))
        }
        let rules = self.readRules
        let attempts = self.queryAttempts
        let shape = read.shape(in: requester.database)
        let mayAttempt = self.engine.prefetches || rules.mayAttempt(read)
        let isAttempted = mayAttempt && attempts.isWorthwhile(shape)
        var job = ReadJob(requester: requester, effort: .search(isAttempted: isAttempted)) {
            (snapshot, isAttempt) throws(StorageFailure) in
            let execution = QueryExecution(
                read,
                for: requester,
                budget: rules.queryBudget(isAttempt: isAttempt),
                snapshot: snapshot,
                into: sink
            )
            do throws(QueryFailure) {
                let page = try execution.page()
                return { reply(.success(page)) }
            } catch {
                switch error {
                case .refused(let error): return { reply(.failure(error)) }
                case .storage(let failure): throw failure
                case .tooLong:
                    attempts.wasLost(shape)
                    sink.removeAll()
                    return nil
                }
            }
        } fail: { failure in
            reply(.failure(StoreError(failure)))
        }
        job.sink = sink
        if self.engine.prefetches {
            job.prefetch = Prefetch { (known, isAttempt) in
                read.firstReads(for: requester, rules.queryBudget(isAttempt: isAttempt), known)
            }
        }
        self.engine.read(job)
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
        reply: @escaping @Sendable (Result<FeedPageEnd, StoreError>) -> Void
    ) {
        guard let client = SeenBy(user: requester.userRecordName, installation: read.installation) else {
            let prefetch = self.prefetch(read, for: requester)
            return self.feed(.long, requester, prefetch: prefetch, into: sink, reply) {
                (feed) throws(FeedFailure) in
                try feed.page(read, into: sink)
            }
        }
        let ledger = self.deliveries
        let noted: @Sendable (Result<FeedPageEnd, StoreError>) -> Void = { result in
            if case .success(let page) = result, let progress = page.progress {
                ledger.note(progress, by: client)
            }
            reply(result)
        }
        self.feed(.long, requester, prefetch: self.prefetch(read, for: requester), into: sink, noted) {
            (feed) throws(FeedFailure) in
            try feed.page(read, into: sink)
        }
    }

    /// Reads which zones changed after a token, a page at a time.
    package func databaseChanges(
        _ read: DatabaseFeedRead,
        for requester: Requester,
        into sink: any FeedSink,
        reply: @escaping @Sendable (Result<FeedPageEnd, StoreError>) -> Void
    ) {
        self.feed(.long, requester, into: sink, reply) { (feed) throws(FeedFailure) in
            try feed.page(read, into: sink)
        }
    }

    /// Gives the token for now, of a zone or of the database: a page after it has the changes that
    /// are acknowledged after the call.
    ///
    /// May reply on the caller's thread.
    package func token(
        of zone: ZoneID?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[UInt8], StoreError>) -> Void
    ) {
        let name = zone.flatMap { Access.storedName(of: $0, for: requester) }
        let prefetch = name.flatMap { self.prefetch(in: $0, of: requester) }
        self.feed(.short, requester, prefetch: prefetch, reply) { (feed) throws(FeedFailure) in
            try feed.token(of: zone)
        }
    }

    /// The first page behind a token, if the token has its position.
    private func prefetch(_ read: FeedRead, for requester: Requester) -> Prefetch? {
        guard let zone = Access.storedName(of: read.zone, for: requester) else { return nil }
        let after = read.token.flatMap { try? ChangeToken($0) }?.positionOfChanges
        let limit = ChangeWalk.piece(ofPage: read.limit)
        return self.prefetch(in: zone, of: requester) { [database = requester.database] key in
            var reads = [SnapshotRead.row(ZoneRow.byKey, database, zone)]
            if let key, let after {
                reads += [
                    .changes(after: after, in: key, limit: limit),
                    .deletions(after: after, in: key, limit: limit),
                ]
            }
            return reads
        }
    }

    /// The state of the database that has the records of a zone, and what else is read of the zone.
    private func prefetch(
        in zone: String,
        of requester: Requester,
        _ others: @escaping @Sendable (ZoneKey?) -> [SnapshotRead] = { _ in [] }
    ) -> Prefetch? {
        guard self.engine.prefetches else { return nil }
        let database = requester.database
        return Prefetch { (known, _) in
            let key = known.zone(named: zone, in: database)
            return others(key) + [.row(DatabaseRow.byKey, key?.database ?? database)]
        }
    }

    private func feed<Value: Sendable>(
        _ effort: ReadJob.Effort,
        _ requester: Requester,
        prefetch: Prefetch? = nil,
        into sink: (any RecordSink)? = nil,
        _ reply: @escaping @Sendable (Result<Value, StoreError>) -> Void,
        _ read: @escaping @Sendable (FeedExecution) throws(FeedFailure) -> Value
    ) {
        let budget = self.readRules.feedBudget
        self.read(
            effort,
            for: requester,
            prefetch: prefetch,
            into: sink,
            needsPendingChanges: true,
            reply
        ) { (snapshot) throws(StorageFailure) in
            let execution = FeedExecution(for: requester, budget: budget, snapshot: snapshot)
            do throws(FeedFailure) {
                return .success(try read(execution))
            } catch {
                switch error {
                case .refused(let refusal): return .failure(refusal)
                case .storage(let failure): throw failure
                }
            }
        }
    }
}
