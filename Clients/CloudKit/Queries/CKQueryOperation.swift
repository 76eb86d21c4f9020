import Foundation
internal import RecordModel

/// Finds the records that meet a query, a page at a time.
///
/// - Order: records come in the order of the query's sort descriptors. A page sees every save that was acknowledged before the
///   operation started.
/// - Shape: the server sends at most 400 records for an operation, perhaps fewer than `resultsLimit` and still a cursor; without a
///   cursor there are no more.
/// - Errors: `invalidArguments` for what can't be asked (its text names the field or the part of the predicate),
///   `unknownItem` for a record type that doesn't exist, `zoneNotFound` for a zone that doesn't.
// SAFETY: see `CKOperation`.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    /// Where a query goes on.
    public typealias Cursor = CKQueryCursor

    /// As many results as the server gives.
    public static let maximumResults = CKQueryOperationMaximumResults

    /// What to look for.
    ///
    /// Not looked at when there is a cursor.
    @NSCopying open var query: CKQuery?
    /// Where an earlier operation ended.
    @NSCopying open var cursor: Cursor?
    /// Where to look: `nil` in all zones of the database.
    ///
    /// Not looked at when there is a cursor.
    @NSCopying open var zoneID: CKRecordZone.ID?
    /// The most records that this operation returns.
    open var resultsLimit: Int = CKQueryOperation.maximumResults
    /// The fields to fetch: `nil` all, empty none.
    ///
    /// The system's fields always come.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// Called for every record.
    ///
    /// Deprecated by Apple; not called if there is a `recordMatchedBlock`.
    open var recordFetchedBlock: ((CKRecord) -> Void)?
    /// Called for every record, in order.
    public var recordMatchedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called last, with the cursor for the next operation, `nil` when there are no more records.
    ///
    /// Deprecated by Apple.
    open var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?
    /// Called last, with the cursor for the next operation, `nil` when there are no more records.
    public var queryResultBlock: ((Result<CKQueryOperation.Cursor?, any Error>) -> Void)?

    /// On the callback queue only.
    private var next: Cursor?

    /// Makes an operation that looks for nothing yet.
    public override init() { super.init() }

    /// Makes an operation that starts a query.
    public convenience init(query: CKQuery) {
        self.init()
        self.query = query
    }

    /// Makes an operation that goes on where another ended.
    public convenience init(cursor: CKQueryOperation.Cursor) {
        self.init()
        self.cursor = cursor
    }

    /// Sends the request.
    open override func main() {
        self.send { scope throws(CKError) in
            RecordQuery(
                try self.start(),
                desiredKeys: self.desiredKeys,
                limit: self.resultsLimit,
                scope: scope
            )
        } answers: { answer in
            guard case .value(let id, let result) = answer else { return }
            if let block = self.recordMatchedBlock {
                block(id, result)
            } else if case .success(let record) = result {
                self.recordFetchedBlock?(record)
            }
        } ended: { end in
            self.next = end.queryCursor
        }
    }

    private func start() throws(CKError) -> RecordQuery.Start {
        if let cursor = self.cursor { return .cursor(cursor) }
        guard let query = self.query else {
            throw CKError.local(.invalidArguments, "A query operation needs a query or a cursor")
        }
        return .query(try query.modelQuery(), zone: self.zoneID)
    }

    override func report(_ error: CKError?) {
        self.queryResultBlock?(error.requestResult.map { self.next })
        self.queryCompletionBlock?(error.requestError == nil ? self.next : nil, error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.recordFetchedBlock = nil
        self.recordMatchedBlock = nil
        self.queryCompletionBlock = nil
        self.queryResultBlock = nil
    }
}
