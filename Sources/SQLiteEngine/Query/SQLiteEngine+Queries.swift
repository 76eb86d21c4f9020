import RecordModel
package import RecordStore

extension SQLiteEngine {
    /// Tries on this thread first: most queries are short, and nobody knows which before they are read.
    ///
    /// What turns out to be long is given up after a few hundred reads, and starts again on a thread of the engine.
    package func query(
        _ read: QueryRead,
        for requester: Requester,
        reply: @escaping @Sendable (Result<QueryAnswer, StoreError>) -> Void
    ) {
        do throws(StoreError) {
            try Access.checkReading(by: requester)
        } catch {
            reply(.failure(error))
            return
        }
        let whole = self.page(read, for: requester, attempt: nil)
        if read.limit < self.configuration.inlineQueryReadsMax {
            let budget = QueryBudget.Attempt(
                readsMax: self.configuration.inlineQueryReadsMax,
                comparisonsMax: self.configuration.inlineQueryComparisonsMax
            )
            let attempt = self.page(read, for: requester, attempt: budget)
            let isDone = self.reads.attempt { connection in
                guard let answer = attempt(connection) else { return false }
                self.reads.reply(with: answer, of: requester.databaseShown, reply)
                return true
            }
            if isDone { return }
        }
        self.reads.query(for: requester, refuse: { reply(.failure($0)) }) { connection in
            self.reads.reply(
                with: whole(connection) ?? .failure(.internalFault),
                of: requester.databaseShown,
                reply
            )
        }
    }

    /// Reads a page on a connection; `nil`: it took more than the attempt may.
    private func page(
        _ read: QueryRead,
        for requester: Requester,
        attempt: QueryBudget.Attempt?
    ) -> @Sendable (ReadConnection) -> Result<QueryAnswer, StoreError>? {
        var budget = self.configuration.queryBudget
        budget.answerBytesMax = self.configuration.bounds.answerBytesMax
        budget.attempt = attempt
        let report = self.report
        return { [budget] connection in
            do throws(StorageFailure) {
                return try connection.query(read, for: requester, budget: budget)
            } catch {
                return .failure(Self.refusal(for: error, report))
            }
        }
    }
}
