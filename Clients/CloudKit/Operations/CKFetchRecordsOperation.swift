import Foundation

/// Fetches records by ID.
///
/// - Shape: At most 400 IDs, else `limitExceeded`. An ID that is named several times is fetched and reported once.
/// - Order: All records are of one moment, after every change that was acknowledged before the operation started.
/// - Errors: A record that does not exist has `unknownItem`, one in a zone that does not exist `zoneNotFound`. The result block gets a
///   success then; the deprecated completion block gets a `partialFailure`.
// SAFETY: see `CKOperation`.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The IDs of the records to fetch.
    open var recordIDs: [CKRecord.ID]?
    /// The fields to fetch: `nil` all, empty none.
    ///
    /// The system's fields always come.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// How much of a record is fetched: 1.0 when it is.
    ///
    /// Before that, at most ten times a second, how much of its files has come; never less than before.
    open var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
    /// Called for every record.
    ///
    /// Deprecated by Apple; not called if there is a `perRecordResultBlock`.
    open var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    /// Called for every record.
    public var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called last, with the records found, `nil` when the request as a whole failed.
    ///
    /// Deprecated by Apple.
    open var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    /// Called last.
    public var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?

    /// On the callback queue only.
    private var found: [CKRecord.ID: CKRecord] = [:]
    private var isForCurrentUser = false

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fetches records.
    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Makes an operation that fetches the user record of the user who is signed in; nobody is: `notAuthenticated`.
    open class func fetchCurrentUserRecordOperation() -> Self {
        let operation = _CKMadeByDefault.make(Self.self)
        operation.isForCurrentUser = true
        return operation
    }

    /// Sends the request.
    open override func main() {
        if self.isForCurrentUser {
            self.send(
                { CurrentUserFetch(desiredKeys: self.desiredKeys, scope: $0) },
                progress: self.reportProgress,
                answers: self.reportItem
            )
        } else {
            self.send(
                { RecordFetch(self.recordIDs ?? [], desiredKeys: self.desiredKeys, scope: $0) },
                progress: self.reportProgress,
                answers: self.reportItem
            )
        }
    }

    private func reportProgress(_ id: CKRecord.ID, _ fraction: Double) {
        self.perRecordProgressBlock?(id, fraction)
    }

    private func reportItem(_ answer: ItemAnswer<CKRecord.ID, CKRecord>) {
        guard case .value(let id, let result) = answer else { return }
        if case .success(let record) = result {
            self.found[id] = record
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
