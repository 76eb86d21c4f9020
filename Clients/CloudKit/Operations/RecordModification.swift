internal import RecordModel
internal import WireProtocol

/// Records to save and to delete in one request.
struct RecordModification: BatchRequest {
    private enum Sent: Sendable {
        case save(OutgoingSave)
        case deletion(CKRecord.ID)
    }

    typealias ItemID = CKRecord.ID
    typealias Value = CKRecord

    static let partialFailureText = "Failed to modify some records"

    private(set) var localResults: [ItemResult] = []
    /// The kind of reader; its ledgers record the changes.
    var reader = Ledgers.Reader.app
    private let scope: DatabaseScopeModel
    private let policy: ModifyRecords.Policy
    private let isAtomic: Bool
    private let clientToken: [UInt8]
    private var saves: [(id: CKRecord.ID, result: Result<OutgoingSave, CKError>)]
    private var deletes: [CKRecord.ID]
    /// By item number.
    private var sent: [Sent] = []

    /// Reads the changes of the records; later changes are not sent.
    ///
    /// - Throws: `invalidArguments` if a record is named twice, or the client's token is too long.
    init(
        saving records: [CKRecord],
        deleting ids: [CKRecord.ID],
        policy: CKModifyRecordsOperation.RecordSavePolicy,
        isAtomic: Bool,
        clientToken: [UInt8] = [],
        scope: DatabaseScopeModel
    ) throws(CKError) {
        try Self.checkDistinct(saving: records, deleting: ids)
        guard clientToken.count <= Bounds.clientTokenBytesMax else {
            throw CKError.local(
                .invalidArguments,
                "clientChangeTokenData has at most \(Bounds.clientTokenBytesMax) bytes"
            )
        }
        self.clientToken = clientToken
        self.scope = scope
        self.policy = policy.model
        self.isAtomic = isAtomic
        self.deletes = ids
        self.saves = records.map { record in
            do throws(CKError) {
                return (record.recordID, .success(try record.outgoingSave(policy: policy.model)))
            } catch {
                return (record.recordID, .failure(error))
            }
        }
        self.divide()
    }

    /// Divides items into those for the server and those with known results.
    private mutating func divide() {
        var refused: [CKRecord.ID: CKError] = [:]
        // A failed item of an atomic zone must have the same effect if the server never sees it.
        // Here that holds in zones that are not atomic too: Apple's checks by the client are
        // "enforced regardless of the zone's capabilities".
        var culprits: [ZoneID: CKRecord.ID] = [:]
        for case (let id, .failure(let error)) in self.saves {
            refused[id] = error
            if self.isAtomic { culprits[id.zoneID.model] = culprits[id.zoneID.model] ?? id }
        }
        func fate(_ id: CKRecord.ID) -> CKError? {
            guard !refused.isEmpty else { return nil }
            return refused[id] ?? culprits[id.zoneID.model].map { CKError.atomicFailure(culprit: $0) }
        }
        self.sent = []
        self.sent.reserveCapacity(self.saves.count + self.deletes.count)
        self.localResults = []
        for (id, result) in self.saves {
            if let error = fate(id) {
                self.localResults.append(.value(id, .failure(error)))
            } else if case .success(let save) = result {
                self.sent.append(.save(save))
            }
        }
        for id in self.deletes {
            if let error = fate(id) {
                self.localResults.append(.deletion(id, .failure(error)))
            } else {
                self.sent.append(.deletion(id))
            }
        }
    }

    var needsUpload: Bool {
        self.sent.contains { if case .save(let save) = $0 { save.needsUpload } else { false } }
    }

    func uploading(by uploads: AssetUploads) async throws(CKError) -> RecordModification {
        var uploaded = self
        let unsent = self.sent.compactMap { item -> OutgoingSave? in
            if case .save(let save) = item, save.needsUpload { save } else { nil }
        }
        let results = await uploads.upload(unsent, to: self.scope)
        // The request is cancelled as a whole, not item by item.
        guard !Task.isCancelled else { throw .cancelled }
        let byID = Dictionary(
            zip(unsent, results).map { ($0.record.recordID, $1.asCulprit) },
            uniquingKeysWith: { first, _ in first }
        )
        uploaded.saves = self.saves.map { ($0.id, byID[$0.id] ?? $0.result) }
        uploaded.divide()
        return uploaded
    }

    /// Whether files were uploaded, by item number.
    var uploadedItems: [Bool] {
        self.sent.map { if case .save(let save) = $0 { save.hasUploads } else { false } }
    }

    /// Returns a request of some of the items, with their files to be uploaded once more.
    func again(_ items: Set<UInt32>) -> RecordModification {
        var ids: Set<CKRecord.ID> = []
        for (index, item) in self.sent.enumerated() where items.contains(UInt32(index)) {
            switch item {
            case .save(let save): ids.insert(save.record.recordID)
            case .deletion(let id): ids.insert(id)
            }
        }
        var again = self
        again.saves = self.saves.filter { ids.contains($0.id) }.map { id, result in
            (id, result.map { $0.hasUploads ? $0.lost : $0 })
        }
        again.deletes = self.deletes.filter { ids.contains($0) }
        again.divide()
        return again
    }

    var sharesSavedIn: DatabaseScopeModel? {
        let savesShares = self.sent.contains {
            if case .save(let save) = $0 { save.record is CKShare } else { false }
        }
        return savesShares ? self.scope : nil
    }

    var ledgerUse: LedgerUse? { .changes(scope: self.scope, self.reader) }

    func note(of itemResult: ItemResult) -> LedgerNote? {
        switch itemResult {
        case .value(let id, .success(let record)):
            LedgerNote(zone: id.zoneID.model, name: id.recordName, type: record.recordType)
        case .deletion(let id, .success): LedgerNote(zone: id.zoneID.model, name: id.recordName)
        case .value(let id, .failure(let error as CKError)):
            // After a conflict the app gets the server's record.
            error.serverRecord.map {
                LedgerNote(zone: id.zoneID.model, name: id.recordName, type: $0.recordType)
            }
        case .value, .deletion: nil
        }
    }

    var itemCount: Int { self.sent.count }

    func operation(user: String) throws(CKError) -> RequestModel {
        var request = ModifyRecords(
            scope: self.scope,
            saves: [],
            policy: self.policy,
            isAtomic: self.isAtomic,
            clientToken: self.clientToken
        )
        request.saves.reserveCapacity(self.saves.count)
        for item in self.sent {
            switch item {
            case .save(let save): request.saves.append(save.save)
            case .deletion(let id): request.deletes.append(id.model)
            }
        }
        return .modifyRecords(request)
    }

    func result(of item: Item, user: String) -> ItemResult? {
        guard Int(item.index) < self.sent.count else { return nil }
        switch (self.sent[Int(item.index)], item.outcome) {
        case (.save(let sent), .recordSaved(let saved)):
            let record = sent.record
            record.saved(saved, sent: sent.save, currentUser: user)
            if !self.deletes.isEmpty, let share = record.share?.recordID, self.isDeleting(share) {
                record.shareEnded()
            }
            return .value(record.recordID, .success(record))
        case (.deletion(let id), .deleted):
            return .deletion(id, .success(()))
        case (.save(let sent), .failure(let failure)):
            let record = sent.record
            let error = CKError(
                failure.about(ErrorSubject(record.recordID, scope: self.scope)),
                clientRecord: record,
                itemID: self.culprit(of: failure),
                currentUser: user
            )
            return .value(record.recordID, .failure(error))
        case (.deletion(let id), .failure(let failure)):
            let error = CKError(
                failure.about(ErrorSubject(id, scope: self.scope)),
                clientRecord: nil,
                itemID: self.culprit(of: failure),
                currentUser: user
            )
            return .deletion(id, .failure(error))
        case (.save(let sent), _):
            return .value(sent.record.recordID, .failure(CKError.resultOfAnotherKind))
        case (.deletion(let id), _):
            return .deletion(id, .failure(CKError.resultOfAnotherKind))
        }
    }

    private func isDeleting(_ id: CKRecord.ID) -> Bool {
        self.sent.contains { if case .deletion(id) = $0 { true } else { false } }
    }

    /// Returns the ID of the item at fault, if it is another one.
    private func culprit(of failure: Failure) -> AnyHashable? {
        switch failure.cause {
        case .culprit: return nil
        case .dependsOn(let index), .atomicPeer(let index):
            guard Int(index) < self.sent.count else { return nil }
            switch self.sent[Int(index)] {
            case .save(let save): return AnyHashable(save.record.recordID)
            case .deletion(let id): return AnyHashable(id)
            }
        }
    }

    private static func checkDistinct(saving records: [CKRecord], deleting ids: [CKRecord.ID]) throws(CKError)
    {
        let saved = records.map(\.recordID)
        guard CKRecord.ID.areDistinct(saved) else {
            throw CKError.local(.invalidArguments, "You can't save the same record twice")
        }
        guard CKRecord.ID.areDistinct(ids) else {
            throw CKError.local(.invalidArguments, "You can't delete the same record twice")
        }
        guard ids.isEmpty || CKRecord.ID.areDistinct(saved + ids) else {
            throw CKError.local(.invalidArguments, "You can't save and delete the same record")
        }
    }
}

extension Result<OutgoingSave, CKError> {
    /// Returns the error as that of the culprit: a file's error is the item's own.
    fileprivate var asCulprit: Self {
        self.mapError { error in
            var userInfo = error.userInfo
            userInfo[CKError.batchCauseKey] = CKBatchCause.culprit
            return CKError(error.code, userInfo: userInfo)
        }
    }
}
