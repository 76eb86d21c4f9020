/// The meaning of the results of a batch of zones, for the pending changes and the delegate.
struct SentZones {
    let event: CKSyncEngine.Event.SentDatabaseChanges
    /// Changes that succeeded, or that are now the app's.
    private(set) var settled: [CKSyncEngine.PendingDatabaseChange] = []
    /// Changes that are pending again.
    private(set) var unsettled: [CKSyncEngine.PendingDatabaseChange] = []
    private(set) var failures: [AnyHashable: any Error] = [:]
    /// The error that asks for the longest pause before a retry.
    private(set) var later: CKError?
    /// Whether any item succeeded.
    var hasProgress: Bool { !self.event.savedZones.isEmpty || !self.event.deletedZoneIDs.isEmpty }

    /// - Parameters:
    ///   - changes: The changes that were sent.
    ///   - results: Their results.
    init(_ changes: [CKSyncEngine.PendingDatabaseChange], _ results: SyncServer.ZoneResults) {
        self.init(changes) { change in
            switch change {
            case .saveZone(let zone): results.values[zone.zoneID].map { $0.map { $0 } }
            case .deleteZone(let id): results.deletions[id].map { $0.map { nil } }
            }
        } isRetried: {
            $0.isRetried
        }
    }

    /// - Parameters:
    ///   - changes: The changes that were sent.
    ///   - error: The error of the whole request.
    init(_ changes: [CKSyncEngine.PendingDatabaseChange], _ error: CKError) {
        self.init(changes) { _ in
            .failure(error)
        } isRetried: {
            $0.isRetriedWhole
        }
    }

    private init(
        _ changes: [CKSyncEngine.PendingDatabaseChange],
        result: (CKSyncEngine.PendingDatabaseChange) -> Result<CKRecordZone?, any Error>?,
        isRetried: (CKError) -> Bool
    ) {
        var saved: [CKRecordZone] = []
        var failedSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = []
        var deleted: [CKRecordZone.ID] = []
        var failedDeletes: [CKRecordZone.ID: CKError] = [:]
        for change in changes {
            let error: CKError
            switch result(change) ?? .failure(CKError.resultOfAnotherKind) {
            case .success(let zone):
                switch change {
                case .saveZone(let sent): saved.append(zone ?? sent)
                case .deleteZone(let id): deleted.append(id)
                }
                self.settled.append(change)
                continue
            case .failure(let failure): error = failure as? CKError ?? .resultOfAnotherKind
            }
            switch change {
            case .saveZone(let zone): failedSaves.append(.init(zone: zone, error: error))
            case .deleteZone(let id): failedDeletes[id] = error
            }
            self.failures[change.zoneID] = error
            if isRetried(error) {
                self.unsettled.append(change)
                self.later = error.later(than: self.later)
            } else {
                self.settled.append(change)
            }
        }
        self.event = .init(
            savedZones: saved,
            failedZoneSaves: failedSaves,
            deletedZoneIDs: deleted,
            failedZoneDeletes: failedDeletes
        )
    }
}
