/// Fetching: first the list of zones and their changes, then the records of the changed zones.
extension SyncWorker {
    /// A fetch in progress.
    struct FetchCourse: Sendable {
        let context: CKSyncEngine.FetchChangesContext
        let calls: SyncCalls
        var queue = ZoneQueue()
        var outcome = SyncOutcome()
        /// Whether a zone was missing when its turn came.
        var isZoneMissing = false
    }

    /// More rounds are left to the next fetch.
    private static let roundsMax = 3

    func fetch(_ context: CKSyncEngine.FetchChangesContext, _ calls: SyncCalls) async -> SyncOutcome {
        var course = FetchCourse(context: context, calls: calls)
        do throws(CKError) {
            try await self.deliver(.willFetchChanges(.init(context: context)))
            var rounds = 0
            repeat {
                rounds += 1
                course.isZoneMissing = false
                try await self.fetchDatabase(&course)
                if course.outcome.error == nil { try await self.fetchZones(&course) }
                // The database's changes show the fate of a missing zone.
            } while course.isZoneMissing && course.outcome.error == nil && rounds < Self.roundsMax
            let error = course.outcome.error ?? course.outcome.later
            try await self.deliver(.didFetchChanges(.init(context: context, error: error)))
            try await self.tellState()
        } catch {
            course.outcome.error = error
        }
        return course.outcome
    }

    /// Returns the options with which the delegate wants the fetch to continue.
    func options(_ course: FetchCourse) async throws(CKError) -> CKSyncEngine.FetchChangesOptions {
        let context = course.context
        return try await self.call { await $0.nextFetchChangesOptions(context, syncEngine: $1) }
    }

    /// Fetches the zones that were created, changed or deleted.
    ///
    /// - Throws: `CKError` if the delegate or the engine is gone.
    private func fetchDatabase(_ course: inout FetchCourse) async throws(CKError) {
        var token = self.state.snapshot.databaseToken
        var seen: Set<CKRecordZone.ID> = []
        var beginnings = 1
        while true {
            let options = try await self.options(course)
            let changes: CKDatabase.DatabaseChanges
            do throws(CKError) {
                let (server, since) = (self.server, token)
                changes = try await course.calls.run {
                    try await server.databaseChanges(since: since, group: options.operationGroup)
                }
            } catch {
                guard error.code == .changeTokenExpired, token != nil,
                    beginnings < ZoneQueue.beginningsMax
                else {
                    course.outcome.error = error
                    return
                }
                beginnings += 1
                token = nil
                seen = []
                self.state.update { $0.databaseTokenExpired() }
                try await self.tellState()
                continue
            }
            seen.formUnion(changes.modifications.map(\.zoneID))
            try await self.take(changes, seen: seen)
            token = changes.changeToken
            guard changes.moreComing else { return }
        }
    }

    /// Reports a page and notes it; `seen` are the zones of all pages so far.
    private func take(
        _ changes: CKDatabase.DatabaseChanges,
        seen: Set<CKRecordZone.ID>
    ) async throws(CKError) {
        // The default zone takes no part, as on Apple's systems.
        let changed = changes.modifications.filter { $0.zoneID != .default }
        var deletions = changes.deletions.filter { $0.zoneID != .default }
        let startsAnew = self.state.snapshot.databaseStartsAnew
        if startsAnew, !changes.moreComing {
            let reported = seen.union(deletions.map(\.zoneID))
            deletions += self.state.snapshot.zones.keys
                .filter { !reported.contains($0) }
                .sorted { ($0.zoneName, $0.ownerName) < ($1.zoneName, $1.ownerName) }
                .map { .init(zoneID: $0, reason: .deleted) }
        }
        if !changed.isEmpty || !deletions.isEmpty {
            try await self.deliver(
                .fetchedDatabaseChanges(.init(modifications: changed, deletions: deletions))
            )
        }
        self.state.update {
            $0.databasePage(
                changed: changed.map(\.zoneID),
                deleted: deletions.map(\.zoneID),
                token: startsAnew && changes.moreComing ? nil : changes.changeToken
            )
        }
        try await self.tellState()
    }
}
