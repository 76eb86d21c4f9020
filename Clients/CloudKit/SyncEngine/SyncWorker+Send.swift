private import RecordModel

/// Sending: first the pending changes of zones, then the delegate's changes of records, until there
/// are no more or one fails.
extension SyncWorker {
    /// A send in progress.
    struct SendCourse: Sendable {
        let context: CKSyncEngine.SendChangesContext
        let calls: SyncCalls
        var outcome = SyncOutcome()
        /// Changes that may have failed only because others of their zone came in no request with
        /// them.
        ///
        /// They are pending again when the delegate has nothing else.
        var deferred: [CKSyncEngine.PendingRecordZoneChange] = []
        /// Whether any change of a record succeeded since the deferred ones were sent.
        var hasRecordProgress = false
        /// Whether nothing is deferred any more, because that changes nothing.
        var isLastRound = false

        var isOver: Bool { self.outcome.error != nil || self.calls.isCancelled }
    }

    func send(_ context: CKSyncEngine.SendChangesContext, _ calls: SyncCalls) async -> SyncOutcome {
        var course = SendCourse(context: context, calls: calls)
        do throws(CKError) {
            try await self.deliver(.willSendChanges(.init(context: context)))
            var isMore = true
            while isMore, !course.isOver {
                try await self.sendZones(&course)
                isMore = try await self.sendNextBatch(&course) || self.hasZones(in: context.options.scope)
            }
            self.putBackWhatIsLeft()
            try await self.deliver(.didSendChanges(.init(context: context)))
            try await self.tellState()
        } catch {
            self.putBackWhatIsLeft()
            course.outcome.error = error
        }
        if course.outcome.error == nil, calls.isCancelled { course.outcome.error = .cancelled }
        return course.outcome
    }

    /// Makes changes pending again that were taken but not sent, because an earlier one failed.
    private func putBackWhatIsLeft() { self.state.update { $0 = $0.kept } }

    /// Returns whether changes of zones in the scope are pending.
    private func hasZones(in scope: CKSyncEngine.SendChangesOptions.Scope) -> Bool {
        self.state.snapshot.zoneChanges.changes.contains { scope.contains(zone: $0.zoneID) }
    }

    // MARK: Zones

    /// Sends all changes of zones in the scope.
    private func sendZones(_ course: inout SendCourse) async throws(CKError) {
        while !course.isOver {
            let scope = course.context.options.scope
            var changes: [CKSyncEngine.PendingDatabaseChange] = []
            self.state.update { state in
                changes = state.takeZones(countMax: Bounds.defaults.requestItemsMax) {
                    scope.contains(zone: $0)
                }
            }
            if changes.isEmpty { return }
            // A change that leaves the pending list must be in a state that the app has.
            try await self.tellState()
            var parts = [changes]
            while !parts.isEmpty, !course.isOver {
                if let halves = try await self.send(parts.removeFirst(), &course) { parts = halves + parts }
            }
        }
    }

    /// - Returns: The halves of a batch that was too large, which was not reported.
    private func send(
        _ changes: [CKSyncEngine.PendingDatabaseChange],
        _ course: inout SendCourse
    ) async throws(CKError) -> [[CKSyncEngine.PendingDatabaseChange]]? {
        let sent: SentZones
        do throws(CKError) {
            let (server, group) = (self.server, course.context.options.operationGroup)
            let results = try await course.calls.run { try await server.send(changes, group: group) }
            sent = SentZones(changes, results)
        } catch {
            if error.code == .limitExceeded, changes.count > 1 {
                let middle = changes.count / 2
                return [Array(changes[..<middle]), Array(changes[middle...])]
            }
            course.outcome.error = error
            sent = SentZones(changes, error)
        }
        self.state.update {
            $0.settle(sent.settled)
            $0.putBack(sent.unsettled)
            $0.noteKnown(Set(sent.event.savedZones.map(\.zoneID)), recordsIn: [])
        }
        course.note(sent.failures, later: sent.later, hasProgress: sent.hasProgress)
        try await self.deliver(.sentDatabaseChanges(sent.event))
        try await self.tellState()
        return nil
    }

    // MARK: Records

    /// Sends the delegate's next batch.
    ///
    /// - Returns: Whether to ask for another one.
    private func sendNextBatch(_ course: inout SendCourse) async throws(CKError) -> Bool {
        guard !course.isOver else { return false }
        let stamp = self.state.snapshot.records.stamp
        let context = course.context
        let given = try await self.call { await $0.nextRecordZoneChangeBatch(context, syncEngine: $1) }
        let batch = given.flatMap { $0.count > 0 ? $0 : nil }
        if let batch { self.state.update { $0.take(batch.changes, asOf: stamp) } }
        // A change that leaves the pending list must be in a state that the app has.
        try await self.tellState()
        guard let batch else { return self.putBackDeferred(&course) }
        var parts = [batch]
        while !parts.isEmpty, !course.isOver {
            if let halves = try await self.send(parts.removeFirst(), &course) { parts = halves + parts }
        }
        return true
    }

    /// Makes changes pending again that waited for others of their zone.
    ///
    /// - Returns: Whether there are any.
    private func putBackDeferred(_ course: inout SendCourse) -> Bool {
        guard !course.deferred.isEmpty else { return false }
        self.state.update { $0.putBack(course.deferred) }
        course.deferred = []
        course.isLastRound = !course.hasRecordProgress
        course.hasRecordProgress = false
        return true
    }

    /// The zones of a batch that have further changes, pending or in flight.
    private func zonesBeyond(_ batch: CKSyncEngine.RecordZoneChangeBatch) -> Set<CKRecordZone.ID> {
        let (state, sent) = (self.state.snapshot, Set(batch.changes))
        let others = state.records.changes + state.recordsInFlight
        return Set(others.lazy.filter { !sent.contains($0) }.map(\.recordID.zoneID))
    }

    /// - Returns: The halves of a batch that was too large, which was not reported.
    private func send(
        _ batch: CKSyncEngine.RecordZoneChangeBatch,
        _ course: inout SendCourse
    ) async throws(CKError) -> [CKSyncEngine.RecordZoneChangeBatch]? {
        var sent: SentRecords
        do throws(CKError) {
            let (server, group) = (self.server, course.context.options.operationGroup)
            let results = try await course.calls.run { try await server.send(batch, group: group) }
            sent = SentRecords(batch, results)
        } catch {
            if error.code == .limitExceeded, let halves = batch.halves { return halves }
            course.outcome.error = error
            sent = SentRecords(batch, error)
        }
        if !course.isLastRound, sent.hasMissedReferences {
            let inFlight = Set(self.state.snapshot.recordsInFlight)
            course.deferred += sent.deferReferences(inZones: self.zonesBeyond(batch), of: inFlight)
        }
        if sent.hasProgress { course.hasRecordProgress = true }
        self.state.update {
            $0.settle(sent.settled)
            $0.putBack(sent.unsettled)
            $0.noteKnown([], recordsIn: sent.zonesWithRecords)
        }
        course.note(sent.failures, later: sent.later, hasProgress: sent.hasProgress)
        guard !sent.isEmpty else { return nil }
        try await self.deliver(.sentRecordZoneChanges(sent.event))
        try await self.tellState()
        return nil
    }
}

extension SyncWorker.SendCourse {
    /// Notes the results of a batch; one that failed is the last.
    fileprivate mutating func note(
        _ failures: [AnyHashable: any Error],
        later: CKError?,
        hasProgress: Bool
    ) {
        if let later { self.outcome.later = later.later(than: self.outcome.later) }
        if hasProgress { self.outcome.hasProgress = true }
        guard self.outcome.error == nil, !failures.isEmpty else { return }
        self.outcome.error = .partialFailure(failures, message: "Failed to send some changes")
    }
}
