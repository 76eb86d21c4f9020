/// What a server's answers to a batch of zones mean: for what is pending, and for the delegate.
struct ZoneAnswers {
    let event: CKSyncEngine.Event.SentDatabaseChanges
    /// Changes that are not pending any more.
    private(set) var settled: [CKSyncEngine.PendingDatabaseChange] = []
    /// Zones that the server wants to be asked about later.
    private(set) var held: Set<CKRecordZone.ID> = []
    /// Why something is to be sent again later, by the longest pause.
    private(set) var later: CKError?
    /// Whether anything took effect.
    var hasProgress: Bool { !self.event.savedZones.isEmpty || !self.event.deletedZoneIDs.isEmpty }

    /// - Parameters:
    ///   - changes: What was sent.
    ///   - results: The answers.
    init(_ changes: [CKSyncEngine.PendingDatabaseChange], _ results: SyncServer.ZoneResults) {
        self.init(changes) { change in
            switch change {
            case .saveZone(let zone): results.values[zone.zoneID].map { $0.map { $0 } }
            case .deleteZone(let id): results.deletions[id].map { $0.map { nil } }
            }
        } fate: {
            $0.fate
        }
    }

    /// - Parameters:
    ///   - changes: What was sent.
    ///   - error: Why the request failed as a whole.
    init(_ changes: [CKSyncEngine.PendingDatabaseChange], _ error: CKError) {
        self.init(changes) { _ in
            .failure(error)
        } fate: {
            $0.isOfService ? .held : $0.fate
        }
    }

    private init(
        _ changes: [CKSyncEngine.PendingDatabaseChange],
        answer: (CKSyncEngine.PendingDatabaseChange) -> Result<CKRecordZone?, any Error>?,
        fate: (CKError) -> SyncFate
    ) {
        var saved: [CKRecordZone] = []
        var failedSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = []
        var deleted: [CKRecordZone.ID] = []
        var failedDeletes: [CKRecordZone.ID: CKError] = [:]
        for change in changes {
            let error: CKError
            switch answer(change) ?? .failure(CKError.answerOfAnotherKind) {
            case .success(let zone):
                switch change {
                case .saveZone(let sent): saved.append(zone ?? sent)
                case .deleteZone(let id): deleted.append(id)
                }
                self.settled.append(change)
                continue
            case .failure(let failure): error = failure as? CKError ?? .answerOfAnotherKind
            }
            switch change {
            case .saveZone(let zone): failedSaves.append(.init(zone: zone, error: error))
            case .deleteZone(let id): failedDeletes[id] = error
            }
            switch fate(error) {
            case .done, .told: self.settled.append(change)
            case .kept: break
            case .held:
                self.held.insert(change.zoneID)
                self.later = error.later(than: self.later)
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
