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
        self.engine.write(request, reply: reply)
    }

    /// Whether requests may be rejected for want of room: only then the mark of a requester counts.
    ///
    /// Costs nothing.
    package var refusesRequests: Bool { self.engine.refusesRequests }

    /// Why a change will be rejected for want of room, before it is decoded; `nil` if it may be tried.
    ///
    /// Only the environment, the user and the mark of the requester count.
    package func refusal(ofChangeBy requester: Requester, records: Int, bytes: Int) -> StoreError? {
        self.engine.refusal(ofChangeBy: requester, records: records, bytes: bytes)
    }
}
