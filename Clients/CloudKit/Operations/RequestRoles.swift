internal import RecordModel
internal import WireProtocol

/// The roles of a request beyond asking and reading; a part is absent unless it plays that role.
struct RequestRoles<Request: BatchRequest>: Sendable {
    /// The subject of the whole request, for texts of errors.
    var subject: ErrorSubject?
    /// Results that need no server: items that the client itself refuses.
    var refused: [Request.ItemResult] = []
    /// The files of the records to save.
    var files: UploadRole<Request>?
    /// The records in its values.
    var records: RecordRole<Request.Value>?
    /// Finds the share in a value that is no record.
    var share: (@Sendable (Request.Value) -> CKShare?)?
    /// Its use of the ledgers.
    var ledger: LedgerRole<Request>?
}

/// The files of the records that a request saves.
enum UploadRole<Request: BatchRequest>: Sendable {
    /// They are uploaded before the request is sent.
    ///
    /// Returns the request with its files uploaded; it refuses the items with failed uploads.
    case missing(@Sendable (AssetUploads) async throws(CKError) -> Request)
    /// They were uploaded, and the server may have lost some since.
    ///
    /// Returns the part to send once more with its files, if the server has refused some items, and
    /// the numbers of its items; `nil` if another attempt would not help.
    case uploaded(again: @Sendable ([Item]) -> (request: Request, items: Set<UInt32>)?)
}

/// The records in the values of a request, and their completion.
struct RecordRole<Value: Sendable>: Sendable {
    enum Completion: Sendable {
        /// The files of fetched records are downloaded.
        case files(AssetSource)
        /// Saved shares of a database are fetched again.
        case shares(DatabaseScopeModel)
    }

    let record: @Sendable (Value) -> CKRecord?
    let value: @Sendable (CKRecord) -> Value
    /// `nil` if the records are complete as they come.
    var completion: Completion?
}

extension RecordRole<CKRecord> {
    init(_ completion: Completion?) { self.init(record: { $0 }, value: { $0 }, completion: completion) }
}

/// The meaning of a request's results for the ledgers.
struct LedgerRole<Request: BatchRequest>: Sendable {
    var use: LedgerUse
    /// Returns the meaning of a result for a ledger.
    var note: @Sendable (Request.ItemResult) -> LedgerNote?
    /// Makes the result that reports an item of a page as vanished, from its name and type: the
    /// server can't do that.
    var lost: (@Sendable (String, String) -> Request.ItemResult)?
}
