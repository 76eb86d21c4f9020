internal import RecordModel
internal import WireProtocol

/// Records to save and to delete in one request.
struct RecordModification: BatchRequest {
    private enum Sent: Sendable {
        case save(CKRecord, RecordSave)
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
        for case (let id, .failure(let error)) in self.saves { refused[id] = error }
        let ids = self.saves.map(\.id)
        // A failed item of an atomic zone must have the same effect if the server never sees it.
        // Here that holds in zones that are not atomic too: Apple's checks by the client are
        // "enforced regardless of the zone's capabilities".
        var culprits: [ZoneID: CKRecord.ID] = [:]
        for id in ids where self.isAtomic && refused[id] != nil {
            culprits[id.zoneID.model] = culprits[id.zoneID.model] ?? id
        }
        func fate(_ id: CKRecord.ID) -> CKError? {
            refused[id] ?? culprits[id.zoneID.model].map { CKError.atomicFailure(culprit: $0) }
        }
        var sent: [Sent] = []
        for case (let id, .success(let save)) in self.saves where fate(id) == nil {
            sent.append(.save(save.record, save.save))
        }
        self.sent = sent + self.deletes.compactMap { fate($0) == nil ? .deletion($0) : nil }
        self.localResults =
            ids.compactMap { id in fate(id).map { ItemResult.value(id, .failure($0)) } }
            + self.deletes.compactMap { id in fate(id).map { ItemResult.deletion(id, .failure($0)) } }
    }

    var needsUpload: Bool { !self.toUpload.isEmpty }

    /// The indices in `saves` of those for the server with missing files.
    private var toUpload: [Int] {
        let sent = Set(
            self.sent.compactMap { if case .save(let record, _) = $0 { record.recordID } else { nil } }
        )
        return self.saves.indices.filter { index in
            guard case .success(let save) = self.saves[index].result else { return false }
            return !save.fields.isEmpty && sent.contains(self.saves[index].id)
        }
    }

    func uploading(by uploads: AssetUploads) async throws(CKError) -> RecordModification {
        var uploaded = self
        let indexes = self.toUpload
        let results = await uploads.upload(
            indexes.compactMap { try? self.saves[$0].result.get() },
            to: self.scope
        )
        // The request is cancelled as a whole, not item by item.
        guard !Task.isCancelled else { throw .cancelled }
        for (index, result) in zip(indexes, results) { uploaded.saves[index].result = result.asCulprit }
        uploaded.divide()
        return uploaded
    }

    /// Whether files were uploaded, by item number.
    var uploadedItems: [Bool] {
        let ids = Set(self.saves.compactMap { (try? $0.result.get())?.hasUploads == true ? $0.id : nil })
        return self.sent.map { item in
            if case .save(let record, _) = item { ids.contains(record.recordID) } else { false }
        }
    }

    /// Returns a request of some of the items, with their files to be uploaded once more.
    func again(_ items: Set<UInt32>) -> RecordModification {
        var ids: Set<CKRecord.ID> = []
        for (index, item) in self.sent.enumerated() where items.contains(UInt32(index)) {
            switch item {
            case .save(let record, _): ids.insert(record.recordID)
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
        let savesShares = self.sent.contains { if case .save(is CKShare, _) = $0 { true } else { false } }
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
        for item in self.sent {
            switch item {
            case .save(_, let save): request.saves.append(save)
            case .deletion(let id): request.deletes.append(id.model)
            }
        }
        return .modifyRecords(request)
    }

    func result(of item: Item, user: String) -> ItemResult? {
        guard Int(item.index) < self.sent.count else { return nil }
        switch (self.sent[Int(item.index)], item.outcome) {
        case (.save(let record, let save), .recordSaved(let saved)):
            record.saved(saved, sent: save, currentUser: user)
            if let share = record.share?.recordID, self.isDeleting(share) { record.shareEnded() }
            return .value(record.recordID, .success(record))
        case (.deletion(let id), .deleted):
            return .deletion(id, .success(()))
        case (.save(let record, _), .failure(let failure)):
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
        case (.save(let record, _), _):
            return .value(record.recordID, .failure(CKError.resultOfAnotherKind))
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
            case .save(let record, _): return AnyHashable(record.recordID)
            case .deletion(let id): return AnyHashable(id)
            }
        }
    }

    private static func checkDistinct(saving records: [CKRecord], deleting ids: [CKRecord.ID]) throws(CKError)
    {
        let saved = Set(records.map(\.recordID.model))
        guard saved.count == records.count else {
            throw CKError.local(.invalidArguments, "You can't save the same record twice")
        }
        let deleted = Set(ids.map(\.model))
        guard deleted.count == ids.count else {
            throw CKError.local(.invalidArguments, "You can't delete the same record twice")
        }
        guard saved.isDisjoint(with: deleted) else {
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
