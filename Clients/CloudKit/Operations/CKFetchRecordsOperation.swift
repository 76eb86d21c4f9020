import Foundation

/// Fetches records by ID, with the files of their assets.
///
/// - Threads: See `CKOperation`.
/// - Shape: At most 400 IDs, else `limitExceeded` (send half as many). An ID that is named several
///   times is fetched and reported once.
/// - Order: All records are of one moment, after every change that was acknowledged before the
///   operation started.
/// - Errors: A record that does not exist has `unknownItem`; one in a zone that does not exist has
///   `zoneNotFound`. The result block gets a success then; the deprecated completion block gets a
///   `partialFailure`.
/// - Source: Apple's `CKFetchRecordsOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The IDs of the records to fetch.
    open var recordIDs: [CKRecord.ID]?
    /// The fields to fetch; all if `nil`, none if empty.
    ///
    /// The system's fields always come.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// Called with the part of a record that has come: 1.0 once, before its result.
    ///
    /// Before that it is called at most ten times a second, with the part of the record's files
    /// that has come. It never falls.
    open var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
    /// Called once for each record, with the record or its error.
    ///
    /// Deprecated by Apple; not called if there is a `perRecordResultBlock`.
    open var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    /// Called once for each record, in the order of the server's results, with the record or its
    /// error.
    public var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called once, last, with the records found; `nil` instead if the whole request failed.
    ///
    /// Deprecated by Apple.
    open var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    /// Called once, last; a success even if single items failed.
    public var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Used on the callback queue only.
    private var found: [CKRecord.ID: CKRecord] = [:]
    private var isForCurrentUser = false

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fetches records.
    ///
    /// - Parameter recordIDs: At most 400 IDs, else the operation fails with `limitExceeded`.
    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Makes an operation that fetches the record of the signed-in user; `notAuthenticated` if
    /// no user is signed in.
    open class func fetchCurrentUserRecordOperation() -> Self {
        let operation = Self.madeByDefault()
        operation.isForCurrentUser = true
        return operation
    }

    /// Sends the request.
    open override func main() {
        let ids = self.isForCurrentUser ? nil : self.recordIDs ?? []
        self.send(
            { RecordFetch(ids, desiredKeys: self.desiredKeys, scope: $0) },
            progress: self.reportProgress,
            results: self.reportItem
        )
    }

    private func reportProgress(_ id: CKRecord.ID, _ fraction: Double) {
        self.perRecordProgressBlock?(id, fraction)
    }

    private func reportItem(_ itemResult: BatchItemResult<CKRecord.ID, CKRecord>) {
        guard case .value(let id, let result) = itemResult else { return }
        if case .success(let record) = result {
            if self.fetchRecordsCompletionBlock != nil { self.found[id] = record }
            self.perRecordProgressBlock?(id, 1)
        }
        if let block = self.perRecordResultBlock {
            block(id, result)
        } else if let block = self.perRecordCompletionBlock {
            switch result {
            case .success(let record): block(record, id, nil)
            case .failure(let error): block(nil, id, error)
            }
        }
    }

    override func report(_ error: CKError?) {
        self.fetchRecordsResultBlock?(error.requestResult)
        let isAnswered = error.requestError == nil
        self.fetchRecordsCompletionBlock?(isAnswered ? self.found : nil, error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perRecordProgressBlock = nil
        self.perRecordCompletionBlock = nil
        self.perRecordResultBlock = nil
        self.fetchRecordsCompletionBlock = nil
        self.fetchRecordsResultBlock = nil
    }
}
