public import Foundation
internal import RecordModel

/// Saves and deletes records in one request.
///
/// - Shape: At most 400 items and 2 MiB, else `limitExceeded` for the whole operation: halve it and try again. A record that is
///   named twice is `invalidArguments`.
/// - Atomicity: With `isAtomic`, all or none within each custom zone.
/// - Durability: What is reported as saved or deleted is on the server's disk.
/// - Errors: In an atomic zone the innocent items have `batchRequestFailed`. Errors of items go to the blocks for items alone: when
///   only items failed, `modifyRecordsResultBlock` gets a success. The deprecated completion block gets a `partialFailure`, whose
///   `partialErrorsByItemID` repeats them.
// SAFETY: see `CKOperation`.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// What a save does about changes that others made meanwhile.
    public enum RecordSavePolicy: Int, Sendable {
        /// Sends the changed fields; fails with `serverRecordChanged` when the record is not as it was fetched.
        case ifServerRecordUnchanged = 0
        /// Sends the changed fields; the last writer wins, field by field.
        case changedKeys = 1
        /// Sends all fields that the record has here; the last writer wins.
        case allKeys = 2
    }

    /// The records to save.
    open var recordsToSave: [CKRecord]?
    /// The IDs of the records to delete.
    open var recordIDsToDelete: [CKRecord.ID]?
    /// What to do about changes that others made meanwhile.
    ///
    /// `.ifServerRecordUnchanged`.
    open var savePolicy: RecordSavePolicy = .ifServerRecordUnchanged
    /// What the server is to keep with each custom zone of which the operation changes something: fetches of the zone's changes return it.
    ///
    /// At most 1,024 bytes, else `invalidArguments`. A later operation replaces it if it has data of its own; `nil` leaves what is kept.
    open var clientChangeTokenData: Data?
    /// Whether all items of a custom zone succeed or none.
    ///
    /// `true`.
    open var isAtomic: Bool = true

    /// How much of a record is saved: 1.0 when it is.
    ///
    /// Before that, at most ten times a second, how much of its files the server has on disk; never less than before.
    open var perRecordProgressBlock: ((CKRecord, Double) -> Void)?
    /// Called for every record to save.
    ///
    /// Deprecated by Apple; not called if there is a `perRecordSaveBlock`.
    open var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)?
    /// Called for every record to save.
    public var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called for every record to delete.
    public var perRecordDeleteBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
    /// Called last, with the records that were saved and the IDs of those deleted: `nil` for both when the
    /// request as a whole failed.
    ///
    /// Deprecated by Apple.
    open var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    /// Called last.
    public var modifyRecordsResultBlock: ((Result<Void, any Error>) -> Void)?

    /// On the callback queue only.
    private var savedRecords: [CKRecord] = []
    private var deletedRecordIDs: [CKRecord.ID] = []
    private var failedRecords: [CKRecord.ID: CKRecord] = [:]

    /// Makes an operation that does nothing yet.
    public override init() { super.init() }

    /// Makes an operation that saves and deletes.
    public convenience init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    /// Sends the request.
    open override func main() {
        let records = self.recordsToSave ?? []
        let byID = Dictionary(records.map { ($0.recordID, $0) }, uniquingKeysWith: { first, _ in first })
        if self.perRecordCompletionBlock != nil { self.failedRecords = byID }
        self.send { scope throws(CKError) in
            try RecordModification(
                saving: records,
                deleting: self.recordIDsToDelete ?? [],
                policy: self.savePolicy,
                isAtomic: self.isAtomic,
                clientToken: self.clientChangeTokenData.map { Array($0) } ?? [],
                scope: scope
            )
        } progress: { id, fraction in
            if let record = byID[id] { self.perRecordProgressBlock?(record, fraction) }
        } answers: { answer in
            switch answer {
            case .value(let id, let result): self.reportSave(id, result)
            case .deletion(let id, let result):
                if case .success = result { self.deletedRecordIDs.append(id) }
                self.perRecordDeleteBlock?(id, result)
            }
        }
    }

    private func reportSave(_ id: CKRecord.ID, _ result: Result<CKRecord, any Error>) {
        if case .success(let record) = result {
            self.savedRecords.append(record)
            self.perRecordProgressBlock?(record, 1)
        }
        if let block = self.perRecordSaveBlock {
            block(id, result)
        } else if let block = self.perRecordCompletionBlock {
            switch result {
            case .success(let record): block(record, nil)
            case .failure(let error):
                if let record = self.failedRecords[id] { block(record, error) }
            }
        }
    }

    override func report(_ error: CKError?) {
        self.modifyRecordsResultBlock?(error.requestResult)
        let isAnswered = error.requestError == nil
        self.modifyRecordsCompletionBlock?(
            isAnswered ? self.savedRecords : nil,
            isAnswered ? self.deletedRecordIDs : nil,
            error
        )
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perRecordProgressBlock = nil
        self.perRecordCompletionBlock = nil
        self.perRecordSaveBlock = nil
        self.perRecordDeleteBlock = nil
        self.modifyRecordsCompletionBlock = nil
        self.modifyRecordsResultBlock = nil
    }
}

extension CKModifyRecordsOperation.RecordSavePolicy {
    var model: ModifyRecords.Policy {
        switch self {
        case .ifServerRecordUnchanged: .ifServerRecordUnchanged
        case .changedKeys: .changedKeys
        case .allKeys: .allKeys
        }
    }
}
