private import RecordModel

/// Sending: changes of zones as they are pending, then changes of records as the delegate gives them.
extension SyncWorker {
    /// A send that is going on.
    struct SendCourse: Sendable {
        let context: CKSyncEngine.SendChangesContext
        let calls: SyncCalls
        var outcome = SyncOutcome()
        /// What the server wants to be asked later.
        var heldRecords: Set<CKRecord.ID> = []
        var heldZones: Set<CKRecordZone.ID> = []
        /// Batches in a row of which nothing took effect.
        var fruitless = 0

        var isOver: Bool { self.outcome.error != nil || self.calls.isCancelled }
    }

    /// An app that sends the same again and again, and resolves nothing, is not followed without end.
    private static let fruitlessMax = 10

    func send(_ context: CKSyncEngine.SendChangesContext, _ calls: SyncCalls) async -> SyncOutcome {
        var course = SendCourse(context: context, calls: calls)
        do throws(CKError) {
            try await self.deliver(.willSendChanges(.init(context: context)))
            repeat {
                try await self.sendZones(&course)
            } while try await self.sendNextBatch(&course)
            try await self.deliver(.didSendChanges(.init(context: context)))
            try await self.tellState()
        } catch {
            course.outcome.error = error
        }
        if course.outcome.error == nil, calls.isCancelled { course.outcome.error = .cancelled }
        return course.outcome
    }

    // MARK: Zones

    /// Sends all changes of zones that are in the scope and not held back.
    private func sendZones(_ course: inout SendCourse) async throws(CKError) {
        while !course.isOver, course.fruitless < Self.fruitlessMax {
            let scope = course.context.options.scope
            let snapshot = self.state.snapshot
            let changes = snapshot.zoneChanges.batch(countMax: Bounds.defaults.requestItemsMax) {
                [held = course.heldZones] in
                scope.contains(zone: $0) && !held.contains($0)
            }
            if changes.isEmpty { return }
            var parts = [changes]
            while !parts.isEmpty, !course.isOver {
                let part = parts.removeFirst()
                if let halves = try await self.send(part, asOf: snapshot.moment, &course) {
                    parts = halves + parts
                }
            }
        }
    }

    /// - Returns: The halves of a batch that was too large; nothing was told of it then.
    private func send(
        _ changes: [CKSyncEngine.PendingDatabaseChange],
        asOf moment: SyncState.Moment,
        _ course: inout SendCourse
    ) async throws(CKError) -> [[CKSyncEngine.PendingDatabaseChange]]? {
        let answers: ZoneAnswers
        do throws(CKError) {
            let (server, group) = (self.server, course.context.options.operationGroup)
            let results = try await course.calls.run { try await server.send(changes, group: group) }
            answers = ZoneAnswers(changes, results)
        } catch {
            if error.code == .limitExceeded, changes.count > 1 {
                let middle = changes.count / 2
                return [Array(changes[..<middle]), Array(changes[middle...])]
            }
            if error.isOfService || error.code == .operationCancelled { course.outcome.error = error }
            answers = ZoneAnswers(changes, error)
        }
        self.state.update {
            $0.settle(answers.settled, asOf: moment.zones)
            $0.heard(of: Set(answers.event.savedZones.map(\.zoneID)), recordsIn: [])
        }
        course.heldZones.formUnion(answers.held)
        course.note(answers.later, progress: answers.hasProgress)
        try await self.deliver(.sentDatabaseChanges(answers.event))
        try await self.tellState()
        return nil
    }

    // MARK: Records

    /// Sends what the delegate gives.
    ///
    /// - Returns: Whether it is to be asked again.
    private func sendNextBatch(_ course: inout SendCourse) async throws(CKError) -> Bool {
        guard !course.isOver else { return false }
        if course.fruitless >= Self.fruitlessMax {
            course.outcome.later = course.outcome.later ?? .fruitless
            return false
        }
        let moment = self.state.snapshot.moment
        let context = course.context
        let given = try await self.call { await $0.nextRecordZoneChangeBatch(context, syncEngine: $1) }
        guard let given, given.count > 0 else {
            if context.options.scope == .all { self.state.update { $0.untrackedAreSent(asOf: moment) } }
            try await self.tellState()
            return false
        }
        let batch = given.without(records: course.heldRecords, zones: course.heldZones)
        guard batch.count > 0 else { return false }
        var parts = [batch]
        while !parts.isEmpty, !course.isOver {
            let part = parts.removeFirst()
            if let halves = try await self.send(part, asOf: moment, &course) { parts = halves + parts }
        }
        return true
    }

    /// - Returns: The halves of a batch that was too large; nothing was told of it then.
    private func send(
        _ batch: CKSyncEngine.RecordZoneChangeBatch,
        asOf moment: SyncState.Moment,
        _ course: inout SendCourse
    ) async throws(CKError) -> [CKSyncEngine.RecordZoneChangeBatch]? {
        let answers: RecordAnswers
        do throws(CKError) {
            let (server, group) = (self.server, course.context.options.operationGroup)
            let results = try await course.calls.run { try await server.send(batch, group: group) }
            answers = RecordAnswers(batch, results)
        } catch {
            if error.code == .limitExceeded, let halves = batch.halves { return halves }
            if error.isOfService || error.code == .operationCancelled { course.outcome.error = error }
            answers = RecordAnswers(batch, error)
        }
        self.state.update {
            $0.settle(answers.settled, asOf: moment.records)
            $0.heard(of: [], recordsIn: answers.zonesWithRecords)
        }
        course.heldRecords.formUnion(answers.held)
        course.note(answers.later, progress: answers.hasProgress)
        try await self.deliver(.sentRecordZoneChanges(answers.event))
        try await self.tellState()
        return nil
    }
}

extension SyncWorker.SendCourse {
    /// Notes how a batch went.
    fileprivate mutating func note(_ later: CKError?, progress: Bool) {
        if let later { self.outcome.later = later.later(than: self.outcome.later) }
        self.fruitless = progress ? 0 : self.fruitless + 1
    }
}

extension CKError {
    fileprivate static var fruitless: CKError {
        .local(.internalError, "Nothing of the last batches took effect")
    }

    /// Of two errors the one that asks for the longer pause.
    func later(than other: CKError?) -> CKError {
        guard let other else { return self }
        return (other.pause ?? .zero) > (self.pause ?? .zero) ? other : self
    }
}
