// Beyond Apple's surface.
extension CKSyncEngine {
    /// Returns whether the app and the server have the same: nothing is to be sent, and nothing to
    /// be fetched.
    ///
    /// Beyond CloudKit, which never says so. It takes one round trip, however many zones there are.
    /// Changes that the app has not added to `state`, and has not announced with
    /// `hasPendingUntrackedChanges`, are unknown to the engine.
    ///
    /// - Returns: `true` if, when the call began, the delegate had handled every change that was
    ///   acknowledged to any client, and the server had every change that was added to `state`.
    ///   `false` also before the first fetch.
    /// - Throws: `CKError`: `notAuthenticated` if no user is signed in; `requestRateLimited`,
    ///   `serviceUnavailable` or `networkFailure` (repeat later). An expired token is no error:
    ///   then there is news.
    public func isCurrent() async throws -> Bool {
        let state = self.state.snapshot
        guard state.isSettled, let token = state.databaseToken else { return false }
        do {
            // Nothing has come since then, so nothing had come by then.
            return try await self.database.isCurrent(token)
        } catch let error as CKError where error.code == .changeTokenExpired {
            return false
        }
    }

    /// Sends and fetches until the app and the server have the same.
    ///
    /// Beyond CloudKit. On return of `true`, the delegate has handled every change that was
    /// acknowledged to any client before the call, and the server has every change that was in
    /// `state`, or the delegate has handled its error. Temporary errors are retried. A change that
    /// always fails, and that the delegate adds again each time, takes all the time.
    ///
    /// - Parameter timeout: How long to try. When it passes, the fetch or send that is under way is
    ///   cancelled; no change is lost.
    /// - Returns: `false` if the time has passed.
    /// - Throws: `CKError` that no retry removes: `invalidArguments` if the delegate calls it while
    ///   it handles a call of this engine (use a task); `notAuthenticated` if no user is signed in;
    ///   `CancellationError` if the task is cancelled.
    public func waitUntilCurrent(timeout: Duration) async throws -> Bool {
        try DelegateCall.check(self)
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await Task.sleep(for: timeout)
                return false
            }
            group.addTask { try await self.becomeCurrent(timeout: timeout) }
            defer { group.cancelAll() }
            do {
                return try await group.next() ?? false
            } catch let error as CKError where error.code == .operationCancelled {
                // The engine reports the cancellation of the caller's task in this way.
                try Task.checkCancellation()
                throw error
            }
        }
    }

    private func becomeCurrent(timeout: Duration) async throws -> Bool {
        var wait = CurrencyWait(timeout: timeout)
        while true {
            do {
                if try await self.sendAndFetch() { return true }
                guard try await wait.pause() else { return false }
            } catch let error as CKError where error.isWaitedOut {
                guard try await wait.pause(for: error) else { return false }
            }
        }
    }

    /// Sends, then fetches: what was sent comes back as a change.
    ///
    /// - Returns: Whether nothing is left of either.
    private func sendAndFetch() async throws -> Bool {
        do {
            try await self.sendChanges()
        } catch let error as CKError where error.code == .partialFailure {
            // The delegate has handled it, and what it added again is pending.
        }
        try await self.fetchChanges()
        return self.state.snapshot.isSettled
    }
}

extension SyncState {
    /// Whether nothing waits to be sent or fetched, as far as is known here.
    var isSettled: Bool {
        !self.hasPending && self.recordsInFlight.isEmpty && self.zonesInFlight.isEmpty
            && self.zonesBehind.isEmpty
    }
}
