/// What a server's answers to a batch of records mean: for what is pending, and for the delegate.
struct RecordAnswers {
    let event: CKSyncEngine.Event.SentRecordZoneChanges
    /// Changes that are not pending any more.
    private(set) var settled: [CKSyncEngine.PendingRecordZoneChange] = []
    /// Records that the server wants to be asked about later, and of those it depends on them for.
    private(set) var held: Set<CKRecord.ID> = []
    /// Why something is to be sent again later, by the longest pause.
    private(set) var later: CKError?
    /// Zones in which the app now has a record that the server has: its own, or the other one of a conflict.
    var zonesWithRecords: Set<CKRecordZone.ID> {
        let conflicts = self.event.failedRecordSaves.filter { $0.error.code == .serverRecordChanged }
        return Set((self.event.savedRecords + conflicts.map(\.record)).map(\.recordID.zoneID))
    }
    /// Whether anything took effect.
    var hasProgress: Bool { !self.event.savedRecords.isEmpty || !self.event.deletedRecordIDs.isEmpty }

    /// - Parameters:
    ///   - batch: What was sent.
    ///   - results: The answers.
    init(_ batch: CKSyncEngine.RecordZoneChangeBatch, _ results: SyncServer.RecordResults) {
        self.init(batch, of: results.values.mapValues { $0.map { _ in } }, results.deletions) { $0.fate }
    }

    /// - Parameters:
    ///   - batch: What was sent.
    ///   - error: Why the request failed as a whole.
    init(_ batch: CKSyncEngine.RecordZoneChangeBatch, _ error: CKError) {
        self.init(
            batch,
            of: Dictionary(batch.recordsToSave.map { ($0.recordID, .failure(error)) }) { first, _ in first },
            Dictionary(batch.recordIDsToDelete.map { ($0, .failure(error)) }) { first, _ in first }
        ) { $0.isOfService ? .held : $0.fate }
    }

    private init(
        _ batch: CKSyncEngine.RecordZoneChangeBatch,
        of saves: [CKRecord.ID: Result<Void, any Error>],
        _ deletions: [CKRecord.ID: Result<Void, any Error>],
        _ fate: (CKError) -> SyncFate
    ) {
        var saved: [CKRecord] = []
        var failedSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
        var deleted: [CKRecord.ID] = []
        var failedDeletes: [CKRecord.ID: CKError] = [:]
        var fates: [(CKSyncEngine.PendingRecordZoneChange, SyncFate, CKError?)] = []
        for record in batch.recordsToSave {
            let id = record.recordID
            guard let error = saves[id].failure else {
                saved.append(record)
                fates.append((.saveRecord(id), .done, nil))
                continue
            }
            failedSaves.append(.init(record: record, error: error))
            fates.append((.saveRecord(id), fate(error), error))
        }
        for id in batch.recordIDsToDelete {
            guard let error = deletions[id].failure else {
                deleted.append(id)
                fates.append((.deleteRecord(id), .done, nil))
                continue
            }
            failedDeletes[id] = error
            fates.append((.deleteRecord(id), fate(error), error))
        }
        self.event = .init(
            savedRecords: saved,
            failedRecordSaves: failedSaves,
            deletedRecordIDs: deleted,
            failedRecordDeletes: failedDeletes
        )
        for (change, fate, error) in fates {
            switch fate {
            case .done, .told: self.settled.append(change)
            case .kept: break
            case .held:
                self.held.insert(change.recordID)
                if let error { self.later = error.later(than: self.later) }
            }
        }
    }
}

extension Result<Void, any Error>? {
    /// What went wrong; no answer is an answer that is missing.
    fileprivate var failure: CKError? {
        switch self {
        case .success?: nil
        case .failure(let error)?: error as? CKError ?? .answerOfAnotherKind
        case nil: .answerOfAnotherKind
        }
    }
}

extension CKSyncEngine.RecordZoneChangeBatch {
    /// The batch without what is held back: its records, those in zones that are held back, and, where all of a zone succeed or none, all of the
    /// zones of held records.
    func without(records: Set<CKRecord.ID>, zones: Set<CKRecordZone.ID>) -> Self {
        guard !records.isEmpty || !zones.isEmpty else { return self }
        var zones = zones
        if self.atomicByZone { zones.formUnion(records.lazy.map(\.zoneID)) }
        func isHeld(_ id: CKRecord.ID) -> Bool { records.contains(id) || zones.contains(id.zoneID) }
        return Self(
            recordsToSave: self.recordsToSave.filter { !isHeld($0.recordID) },
            recordIDsToDelete: self.recordIDsToDelete.filter { !isHeld($0) },
            atomicByZone: self.atomicByZone
        )
    }

    /// Two batches of about half the size; `nil` when it can't be divided: one item, or one zone of which all succeed or none.
    ///
    /// Saves are before deletions in both together, and in their order.
    var halves: [Self]? {
        guard self.count > 1 else { return nil }
        guard self.atomicByZone else {
            let middle = (self.count + 1) / 2
            let saves = self.recordsToSave.prefix(middle)
            let deletes = self.recordIDsToDelete.prefix(middle - saves.count)
            return [
                Self(recordsToSave: Array(saves), recordIDsToDelete: Array(deletes)),
                Self(
                    recordsToSave: Array(self.recordsToSave.dropFirst(saves.count)),
                    recordIDsToDelete: Array(self.recordIDsToDelete.dropFirst(deletes.count))
                ),
            ]
        }
        var zones: [CKRecordZone.ID] = []
        for zone in self.recordsToSave.map(\.recordID.zoneID) + self.recordIDsToDelete.map(\.zoneID)
        where !zones.contains(zone) { zones.append(zone) }
        guard zones.count > 1 else { return nil }
        let first = Set(zones.prefix((zones.count + 1) / 2))
        return [true, false].map { isFirst in
            Self(
                recordsToSave: self.recordsToSave.filter { first.contains($0.recordID.zoneID) == isFirst },
                recordIDsToDelete: self.recordIDsToDelete.filter { first.contains($0.zoneID) == isFirst },
                atomicByZone: true
            )
        }
    }
}
