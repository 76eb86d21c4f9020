import RecordModel
package import StorageContract

extension Store {
    /// Reads the report of the requester, in one snapshot: for an operator who is no user, that of all
    /// users.
    ///
    /// Blocks. The positions of listeners are written down a second or two after they acknowledge.
    ///
    /// - Throws: `StoreError.storageUnavailable`.
    package func subscriptionReport(for requester: Requester) throws(StoreError) -> SubscriptionReport {
        do {
            return try self.engine.readTables { try SubscriptionReport(for: requester, rows: $0) }
        } catch {
            throw .storageUnavailable(retryAfterMilliseconds: 1_000)
        }
    }

    /// Says which of the last changes a subscription of the requester would have fired for.
    ///
    /// The rules are those of `explain`, which are the router's. An unsaved subscription is
    /// validated as if it were saved.
    ///
    /// Fails as a save of the subscription does, with `zoneMissing`, and with `databaseNotAllowed`
    /// in a shared database: only zones have an order there.
    package func tryOut(
        _ read: SubscriptionTrialRead,
        for requester: Requester,
        reply: @escaping @Sendable (Result<SubscriptionTrial, StoreError>) -> Void
    ) {
        guard requester.userRecordName != nil else { return reply(.failure(.notSignedIn)) }
        guard requester.scope != .shared else { return reply(.failure(.databaseNotAllowed)) }
        self.read(.long, for: requester, reply) { (snapshot) throws(StorageFailure) in
            try SubscriptionTrialExecution(read, for: requester, snapshot: snapshot).trial()
        }
    }
}
