public import Foundation
internal import RecordModel

/// Saves and deletes records in one request.
///
/// ```swift
/// let operation = CKModifyRecordsOperation(recordsToSave: notes, recordIDsToDelete: [old])
/// operation.savePolicy = .changedKeys
/// operation.perRecordSaveBlock = { id, result in
///     if case .failure(let error) = result { print(id.recordName, error) }
/// }
/// operation.modifyRecordsResultBlock = { result in
///     if case .failure(let error) = result { print("nothing was saved:", error) }
/// }
/// database.add(operation)
/// ```
///
/// - Shape: At most 400 items, 2 MiB, 20,000 changes of index entries, 8 MiB of stored records that
///   change, and 2,000 new fields and record types, else `limitExceeded` for the whole operation. A
///   record that is named twice is `invalidArguments`.
/// - Atomicity: With `isAtomic`, all or none within each custom zone.
/// - Order: The blocks of items run in the order of the server's results, then the blocks for the
///   whole operation.
/// - Threads: See `CKOperation`.
/// - Durability: A record that is reported as saved or deleted is so on the server's disk.
/// - Errors: In an atomic zone the other items have `batchRequestFailed`. Errors of items go only
///   to the blocks for items: if only items failed, `modifyRecordsResultBlock` gets a success. The
///   deprecated completion block gets a `partialFailure`; its `partialErrorsByItemID` repeats
///   them.
///
/// | error | of | what to do |
/// |---|---|---|
/// | `serverRecordChanged` | a record | merge into `serverRecord`, and save that |
/// | `batchRequestFailed` | a record | correct the item at fault, then send all again |
/// | `zoneNotFound` | a record | create the zone |
/// | `referenceViolation` | a record | add the target to the request, or save it first |
/// | `invalidArguments` | a record | correct the field or the schema that the text names |
/// | `limitExceeded` | the operation | send half of the items |
/// | `requestRateLimited`, `serviceUnavailable` | the operation | wait `retryAfterSeconds` |
/// | `networkFailure`, `serverResponseLost` | the operation | repeat; expect own conflicts |
///
/// - Source: Apple's `CKModifyRecordsOperation`.
// SAFETY: see `CKOperation`.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// What a save does if others have changed the record meanwhile.
    public enum RecordSavePolicy: Int, Sendable {
        /// Sends the changed fields, and fails with `serverRecordChanged` if others have saved the
        /// record since it was fetched.
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
    /// What to do if others have changed a record meanwhile; `.ifServerRecordUnchanged` by default.
    open var savePolicy: RecordSavePolicy = .ifServerRecordUnchanged
    /// Data that the server keeps with each custom zone in which the operation changes something.
    ///
    /// Fetches of the zone's changes return it. It has at most 1,024 bytes, else the operation
    /// fails with `invalidArguments`. A later operation with data replaces it; `nil` leaves it
    /// unchanged.
    open var clientChangeTokenData: Data?
    /// Whether all items of a custom zone succeed or none; `true` by default.
    open var isAtomic: Bool = true

    /// Called with the saved part of a record: 1.0 once, before its result.
    ///
    /// Before that it is called at most ten times a second, with the part of the record's files
    /// that is on the server's disk. It never falls.
    open var perRecordProgressBlock: ((CKRecord, Double) -> Void)?
    /// Called once for each record to save, with its error, if any.
    ///
    /// Deprecated by Apple; not called if there is a `perRecordSaveBlock`.
    open var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)?
    /// Called once for each record to save, in the order of the server's results, with the record
    /// or its error.
    public var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called once for each record to delete, with a success or its error.
    public var perRecordDeleteBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
    /// Called once, last, with the saved records and the IDs of the deleted ones; `nil` for both if
    /// the whole request failed.
    ///
    /// Deprecated by Apple.
    open var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    /// Called once, last; a success even if single records failed.
    public var modifyRecordsResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Used on the callback queue only.
    private var savedRecords: [CKRecord] = []
    private var deletedRecordIDs: [CKRecord.ID] = []
    private var recordsByID: [CKRecord.ID: CKRecord] = [:]

    /// Makes an operation that does nothing yet.
    public override init() { super.init() }

    /// Makes an operation that saves and deletes.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save; at most 400 items with the deletions.
    ///   - recordIDsToDelete: The IDs of the records to delete; none that is also saved.
    public convenience init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    /// Sends the request.
    open override func main() {
        let records = self.recordsToSave ?? []
        if self.perRecordProgressBlock != nil || self.perRecordCompletionBlock != nil {
            self.recordsByID = Dictionary(
                records.map { ($0.recordID, $0) },
                uniquingKeysWith: { first, _ in first }
            )
        }
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
            if let record = self.recordsByID[id] { self.perRecordProgressBlock?(record, fraction) }
        } results: { itemResult in
            switch itemResult {
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
                if let record = self.recordsByID[id] { block(record, error) }
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
