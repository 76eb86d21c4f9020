import Foundation
internal import RecordModel

/// Finds the records that match a query, one page at a time.
///
/// ```swift
/// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "pages > %d", 10))
/// let operation = CKQueryOperation(query: query)
/// operation.resultsLimit = 100
/// operation.recordMatchedBlock = { _, result in
///     if case .success(let note) = result { print(note["text"] ?? "") }
/// }
/// operation.queryResultBlock = { result in
///     guard case .success(let cursor?) = result else { return }
///     database.add(CKQueryOperation(cursor: cursor))
/// }
/// database.add(operation)
/// ```
///
/// - Order: Records come in the order of the query's sort descriptors. A page sees every save that
///   was acknowledged before the operation started.
/// - Shape: The server sends at most 400 records per operation. It may send fewer than
///   `resultsLimit` and still a cursor. Without a cursor there are no more records.
/// - Threads: See `CKOperation`.
///
/// | error | what to do |
/// |---|---|
/// | `invalidArguments` | correct the predicate, or index the field that the text names |
/// | `invalidArguments` of a cursor | start again: it is a day old, or of another user |
/// | `unknownItem` | save a record of the type first, or deploy the schema |
/// | `zoneNotFound` | create the zone, or leave out `zoneID` |
/// | `notAuthenticated`, `permissionFailure` | sign in, or ask for access |
/// | `requestRateLimited`, `serviceUnavailable` | repeat after `retryAfterSeconds` |
///
/// - Source: Apple's `CKQueryOperation`.
// SAFETY: see `CKOperation`.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    /// A position from which a query continues.
    public typealias Cursor = CKQueryCursor

    /// The results limit that leaves the number to the server.
    public static let maximumResults = CKQueryOperationMaximumResults

    /// The query; ignored if there is a cursor.
    @NSCopying open var query: CKQuery?
    /// The position at which an earlier operation ended.
    @NSCopying open var cursor: Cursor?
    /// The zone, or `nil` if all zones of the database are searched; ignored if there is a cursor.
    @NSCopying open var zoneID: CKRecordZone.ID?
    /// The largest number of records that the operation returns.
    open var resultsLimit: Int = CKQueryOperation.maximumResults
    /// The fields to fetch; all if `nil`, none if empty.
    ///
    /// The system's fields always come.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// Called once for each record.
    ///
    /// Deprecated by Apple; not called if there is a `recordMatchedBlock`.
    open var recordFetchedBlock: ((CKRecord) -> Void)?
    /// Called once for each record, in order, with the record or its error.
    public var recordMatchedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called once, last, with the cursor for the next operation, or with the error; the cursor is
    /// `nil` if there are no more records.
    ///
    /// Deprecated by Apple.
    open var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?
    /// Called once, last, with the cursor for the next operation, or with the error; the cursor is
    /// `nil` if there are no more records.
    public var queryResultBlock: ((Result<CKQueryOperation.Cursor?, any Error>) -> Void)?

    /// Used on the callback queue only.
    private var next: Cursor?

    /// Makes an operation without a query yet.
    public override init() { super.init() }

    /// Makes an operation that starts a query.
    ///
    /// - Parameter query: The record type, the predicate and the order.
    public convenience init(query: CKQuery) {
        self.init()
        self.query = query
    }

    /// Makes an operation that continues where another ended.
    ///
    /// - Parameter cursor: The cursor of the page before, which contains query and zone; valid for
    ///   a day, for its user and database.
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
        } results: { itemResult in
            guard case .value(let id, let result) = itemResult else { return }
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
