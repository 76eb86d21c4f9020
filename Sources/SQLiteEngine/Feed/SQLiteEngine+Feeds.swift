package import RecordModel
package import RecordStore

extension SQLiteEngine {
    package func changes(
        _ read: FeedRead,
        for requester: Requester,
        into sink: any FeedSink,
        reply: @escaping @Sendable (Result<FeedAnswer, StoreError>) -> Void
    ) {
        self.whenViewsAreTold(requester, reply) {
            self.feed(isShort: false, requester, reply) { (feed) throws(FeedFailure) in
                try feed.page(read, into: sink)
            }
        }
    }

    package func databaseChanges(
        _ read: DatabaseFeedRead,
        for requester: Requester,
        into sink: any FeedSink,
        reply: @escaping @Sendable (Result<FeedAnswer, StoreError>) -> Void
    ) {
        self.whenViewsAreTold(requester, reply) {
            self.feed(isShort: false, requester, reply) { (feed) throws(FeedFailure) in
                try feed.page(read, into: sink)
            }
        }
    }

    package func token(
        of zone: ZoneID?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[UInt8], StoreError>) -> Void
    ) {
        self.whenViewsAreTold(requester, reply) {
            self.feed(isShort: true, requester, reply) { (feed) throws(FeedFailure) in
                try feed.token(of: zone)
            }
        }
    }

    private func feed<Answer: Sendable>(
        isShort: Bool,
        _ requester: Requester,
        _ reply: @escaping @Sendable (Result<Answer, StoreError>) -> Void,
        _ read: @escaping @Sendable (FeedExecution) throws(FeedFailure) -> Answer
    ) {
        var budget = FeedBudget.defaults
        budget.answerBytesMax = self.configuration.bounds.answerBytesMax
        budget.readsMax = self.configuration.feedReadsMax
        self.read(isShort: isShort, requester, reply) { [budget] (connection) throws(StorageFailure) in
            try connection.feed(for: requester, budget: budget, read)
        }
    }
}

extension ReadConnection {
    /// Reads a feed within one snapshot.
    fileprivate func feed<Answer>(
        for requester: Requester,
        budget: FeedBudget,
        _ read: (FeedExecution) throws(FeedFailure) -> Answer
    ) throws(StorageFailure) -> Result<Answer, StoreError> {
        try self.snapshot { () throws(StorageFailure) in
            let reader = FeedConnection(self)
            defer { reader.finish() }
            let execution = FeedExecution(for: requester, budget: budget, reader: reader)
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
