internal import RecordModel
internal import WireProtocol

/// Records to save and to delete in one request.
struct RecordModification: BatchRequest {
    private enum Sent: Sendable {
        case save(OutgoingSave)
        case deletion(CKRecord.ID)

        var id: CKRecord.ID {
            switch self {
            case .save(let save): save.record.recordID
            case .deletion(let id): id
            }
        }
    }

    typealias ItemID = CKRecord.ID
    typealias Value = CKRecord

    static let partialFailureText = "Failed to modify some records"

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
    private var refusals: [ItemResult] = []

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
        self.refusals = []
        for (id, result) in self.saves {
            if let error = fate(id) {
                self.refusals.append(.value(id, .failure(error)))
            } else if case .success(let save) = result {
                self.sent.append(.save(save))
            }
        }
        for id in self.deletes {
            if let error = fate(id) {
                self.refusals.append(.deletion(id, .failure(error)))
            } else {
                self.sent.append(.deletion(id))
            }
        }
    }

    var roles: RequestRoles<Self> {
        var (needsUpload, hasUploads, savesShares) = (false, false, false)
        for case .save(let save) in self.sent {
            needsUpload = needsUpload || save.needsUpload
            hasUploads = hasUploads || save.hasUploads
            savesShares = savesShares || save.record is CKShare
        }
        var roles = RequestRoles<Self>(
            refused: self.refusals,
            records: RecordRole(savesShares ? .shares(self.scope) : nil),
            ledger: LedgerRole(use: .changes(scope: self.scope, self.reader), note: { Self.note(of: $0) })
        )
        if needsUpload {
            roles.files = .missing { uploads async throws(CKError) in try await self.uploading(by: uploads) }
        } else if hasUploads {
            roles.files = .uploaded { self.again(refused: $0) }
        }
        return roles
    }

    private func uploading(by uploads: AssetUploads) async throws(CKError) -> RecordModification {
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

    /// Returns the saves that failed because the server lost a file, and the items that failed with
    /// them in an atomic zone.
    ///
    /// The server may lose files between their upload and the save: if the grace time is short, or
    /// an older backup was restored.
    private func again(refused: [Item]) -> (request: RecordModification, items: Set<UInt32>)? {
        var items: Set<UInt32> = []
        for item in refused where Int(item.index) < self.sent.count {
            guard case .save(let save) = self.sent[Int(item.index)], save.hasUploads else { continue }
            if item.failure?.code == .assetNotAvailable { items.insert(item.index) }
        }
        guard !items.isEmpty else { return nil }
        for item in refused where Int(item.index) < self.sent.count {
            if case .atomicPeer(let culprit)? = item.failure?.cause, items.contains(culprit) {
                items.insert(item.index)
            }
        }
        return (self.again(items), items)
    }

    /// Returns a request of some of the items, with their files to be uploaded once more.
    private func again(_ items: Set<UInt32>) -> RecordModification {
        let ids = Set(items.map { self.sent[Int($0)].id })
        var again = self
        again.saves = self.saves.filter { ids.contains($0.id) }.map { id, result in
            (id, result.map { $0.hasUploads ? $0.lost : $0 })
        }
        again.deletes = self.deletes.filter { ids.contains($0) }
        again.divide()
        return again
    }

    private static func note(of itemResult: ItemResult) -> LedgerNote? {
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

    var itemCount: Int? { self.sent.count }

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
        let sent = self.sent[Int(item.index)]
        func error(of record: CKRecord?) -> CKError {
            guard let failure = item.failure else { return .resultOfAnotherKind }
            return CKError(
                failure.about(ErrorSubject(sent.id, scope: self.scope)),
                clientRecord: record,
                itemID: self.culprit(of: failure),
                currentUser: user
            )
        }
        switch (sent, item.outcome) {
        case (.save(let save), .recordSaved(let saved)):
            let record = save.record
            record.saved(saved, sent: save.save, currentUser: user)
            if !self.deletes.isEmpty, let share = record.share?.recordID, self.isDeleting(share) {
                record.shareEnded()
            }
            return .value(sent.id, .success(record))
        case (.deletion(let id), .deleted): return .deletion(id, .success(()))
        case (.save(let save), _): return .value(sent.id, .failure(error(of: save.record)))
        case (.deletion(let id), _): return .deletion(id, .failure(error(of: nil)))
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
            return Int(index) < self.sent.count ? AnyHashable(self.sent[Int(index)].id) : nil
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

extension Item {
    /// The failure of the item; `nil` if it has another outcome.
    var failure: Failure? { if case .failure(let failure) = self.outcome { failure } else { nil } }
}
