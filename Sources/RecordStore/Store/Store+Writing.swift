package import StorageContract

extension Store {
    /// Executes a change once and replies when it is on disk.
    ///
    /// - Order: The changes of one database take ascending positions, in the order of the transactions
    ///   that commit them.
    /// - Durability: The reply comes after the commit is on disk.
    /// - Parameters:
    ///   - request: If its request ID was executed before, the reply has the results of that execution.
    ///   - reply: Gets one result an item, or why the whole request was rejected: then nothing happened.
    package func write(
        _ request: WriteRequest,
        reply: @escaping @Sendable (Result<[WriteOutcome], StoreError>) -> Void
    ) {
        RequestExecution(
            rules: self.writeRules,
            request: request,
            engine: self.engine,
            counters: self.counters,
            reply: reply
        ).start()
    }
}
