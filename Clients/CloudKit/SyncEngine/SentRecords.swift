/// The meaning of the results of a batch of records, for the pending changes and the delegate.
struct SentRecords {
    private(set) var event = CKSyncEngine.Event.SentRecordZoneChanges(
        savedRecords: [],
        failedRecordSaves: [],
        deletedRecordIDs: [],
        failedRecordDeletes: [:]
    )
    /// Changes that succeeded, or that are now the app's.
    private(set) var settled: [CKSyncEngine.PendingRecordZoneChange] = []
    /// Changes that are pending again.
    private(set) var unsettled: [CKSyncEngine.PendingRecordZoneChange] = []
    private(set) var failures: [AnyHashable: any Error] = [:]
    /// The error that asks for the longest pause before a retry.
    private(set) var later: CKError?
    /// Zones in which the app now has a record that the server has: its own, or the other one of a
    /// conflict.
    var zonesWithRecords: Set<CKRecordZone.ID> {
        let conflicts = self.event.failedRecordSaves.filter { $0.error.code == .serverRecordChanged }
        return Set((self.event.savedRecords + conflicts.map(\.record)).map(\.recordID.zoneID))
    }
    /// Whether any item succeeded.
    var hasProgress: Bool { !self.event.savedRecords.isEmpty || !self.event.deletedRecordIDs.isEmpty }

    /// Whether there is nothing to report.
    var isEmpty: Bool {
        self.event.savedRecords.isEmpty && self.event.failedRecordSaves.isEmpty
            && self.event.deletedRecordIDs.isEmpty && self.event.failedRecordDeletes.isEmpty
    }

    var hasMissedReferences: Bool {
        self.failures.values.contains { ($0 as? CKError)?.code == .referenceViolation }
    }

    /// Takes out changes that failed because of a reference, with what failed along with them, where
    /// other changes of their zone may have what the reference needs.
    ///
    /// - Parameters:
    ///   - zones: Zones with changes that were not sent together with these.
    ///   - inFlight: Changes that can become pending again. A change that the app sent without
    ///     having it pending is not among them: only its event is left of it.
    /// - Returns: The changes, which are neither settled nor pending.
    mutating func deferReferences(
        inZones zones: Set<CKRecordZone.ID>,
        of inFlight: Set<CKSyncEngine.PendingRecordZoneChange>
    ) -> [CKSyncEngine.PendingRecordZoneChange] {
        let failures = self.failures.compactMap { key, error in
            (key as? CKRecord.ID).map { ($0, (error as? CKError)?.code) }
        }
        let held = Set(failures.filter { $1 == .referenceViolation }.map(\.0.zoneID)).intersection(zones)
        let mayWait = Set(
            failures.filter { id, code in
                held.contains(id.zoneID) && (code == .referenceViolation || code == .batchRequestFailed)
            }.map(\.0)
        )
        let deferred = self.settled.filter { mayWait.contains($0.recordID) && inFlight.contains($0) }
        let ids = Set(deferred.map(\.recordID))
        guard !ids.isEmpty else { return [] }
        self.settled.removeAll { ids.contains($0.recordID) }
        for id in ids { self.failures[id] = nil }
        self.event = .init(
            savedRecords: self.event.savedRecords,
            failedRecordSaves: self.event.failedRecordSaves.filter { !ids.contains($0.record.recordID) },
            deletedRecordIDs: self.event.deletedRecordIDs,
            failedRecordDeletes: self.event.failedRecordDeletes.filter { !ids.contains($0.key) }
        )
        return deferred
    }

    /// - Parameters:
    ///   - batch: The batch that was sent.
    ///   - results: Its results.
    init(_ batch: CKSyncEngine.RecordZoneChangeBatch, _ results: SyncServer.RecordResults) {
        self.init(batch, of: results.values.mapValues { $0.map { _ in } }, results.deletions) { $0.isRetried }
    }

    /// - Parameters:
    ///   - batch: The batch that was sent.
    ///   - error: The error of the whole request.
    init(_ batch: CKSyncEngine.RecordZoneChangeBatch, _ error: CKError) {
        self.init(
            batch,
            of: Dictionary(batch.recordsToSave.map { ($0.recordID, .failure(error)) }) { first, _ in first },
            Dictionary(batch.recordIDsToDelete.map { ($0, .failure(error)) }) { first, _ in first }
        ) { $0.isRetriedWhole }
    }

    private init(
        _ batch: CKSyncEngine.RecordZoneChangeBatch,
        of saves: [CKRecord.ID: Result<Void, any Error>],
        _ deletions: [CKRecord.ID: Result<Void, any Error>],
        _ isRetried: (CKError) -> Bool
    ) {
        var saved: [CKRecord] = []
        var failedSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
        var deleted: [CKRecord.ID] = []
        var failedDeletes: [CKRecord.ID: CKError] = [:]
        for record in batch.recordsToSave {
            let id = record.recordID
            guard let error = saves[id].failure else {
                saved.append(record)
                self.settled.append(.saveRecord(id))
                continue
            }
            failedSaves.append(.init(record: record, error: error))
            self.note(.saveRecord(id), error, isRetried: isRetried(error))
        }
        for id in batch.recordIDsToDelete {
            guard let error = deletions[id].failure else {
                deleted.append(id)
                self.settled.append(.deleteRecord(id))
                continue
            }
            failedDeletes[id] = error
            self.note(.deleteRecord(id), error, isRetried: isRetried(error))
        }
        self.event = .init(
            savedRecords: saved,
            failedRecordSaves: failedSaves,
            deletedRecordIDs: deleted,
            failedRecordDeletes: failedDeletes
        )
    }

    private mutating func note(
        _ change: CKSyncEngine.PendingRecordZoneChange,
        _ error: CKError,
        isRetried: Bool
    ) {
        self.failures[change.recordID] = error
        guard isRetried else { return self.settled.append(change) }
        self.unsettled.append(change)
        self.later = error.later(than: self.later)
    }
}

extension Result<Void, any Error>? {
    /// The error of a result; a missing result is an error.
    fileprivate var failure: CKError? {
        switch self {
        case .success?: nil
        case .failure(let error)?: error as? CKError ?? .resultOfAnotherKind
        case nil: .resultOfAnotherKind
        }
    }
}

extension CKSyncEngine.RecordZoneChangeBatch {
    /// Two batches of about half the size; `nil` if the batch can't be divided.
    ///
    /// A batch of one item can't, nor one share with its root, nor an atomic batch of one zone.
    ///
    /// Both together have saves before deletions, in their order.
    var halves: [Self]? {
        guard self.count > 1 else { return nil }
        guard self.atomicByZone else {
            let records = self.recordsWithSharesAfterRoots
            var middle = (self.count + 1) / 2
            if middle < records.count,
                (records[middle] as? CKShare)?.shareOrRootID == records[middle - 1].recordID
            {
                // A share stays with its root.
                middle += middle > 1 ? -1 : 1
            }
            guard middle < self.count else { return nil }
            let saves = records.prefix(middle)
            let deletes = self.recordIDsToDelete.prefix(middle - saves.count)
            return [
                Self(recordsToSave: Array(saves), recordIDsToDelete: Array(deletes)),
                Self(
                    recordsToSave: Array(records.dropFirst(saves.count)),
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
