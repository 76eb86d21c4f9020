internal import RecordModel
internal import WireProtocol

typealias DatabaseScopeModel = RecordModel.DatabaseScope
typealias RequestModel = RecordModel.Operation

/// The result of one item of a request.
enum BatchItemResult<ID: Hashable & Sendable, Value: Sendable>: Sendable {
    case value(ID, Result<Value, any Error>)
    case deletion(ID, Result<Void, any Error>)

    /// The item and its error.
    var failure: (id: ID, error: any Error)? {
        switch self {
        case .value(let id, .failure(let error)), .deletion(let id, .failure(let error)): (id, error)
        case .value, .deletion: nil
        }
    }
}

/// A request, and how to read its results: one type per operation of a database.
protocol BatchRequest: Sendable {
    associatedtype ItemID: Hashable & Sendable
    associatedtype Value: Sendable
    typealias ItemResult = BatchItemResult<ItemID, Value>

    /// The text of a `partialFailure`.
    static var partialFailureText: String { get }

    /// Results that need no server: items that the client itself refuses.
    var localResults: [ItemResult] { get }

    /// The number of items that get results from the server, numbered from 0.
    var itemCount: Int { get }

    /// Whether anything is left to send.
    var needsServer: Bool { get }

    /// Returns the request to send.
    ///
    /// - Parameter user: The record name of the user, empty if none is signed in.
    /// - Returns: The request.
    /// - Throws: `CKError` if no request can be made.
    func operation(user: String) throws(CKError) -> RequestModel

    /// Whether files have to be uploaded before the request is sent.
    var needsUpload: Bool { get }

    /// Returns the request with its files uploaded; items with failed uploads get their results
    /// here.
    func uploading(by uploads: AssetUploads) async throws(CKError) -> Self

    /// Whether files were uploaded for the request, which the server may have lost since.
    var hasUploads: Bool { get }

    /// Returns the part to send once more, with its files, if the server has refused some items.
    ///
    /// - Returns: The request and the numbers of its items; `nil` if another attempt would not
    ///   help.
    func again(refused: [Item]) -> (request: Self, items: Set<UInt32>)?

    /// How to fetch a record again while its files are downloaded; `nil` if the request returns no
    /// records.
    var assetSource: AssetSource? { get }

    /// The database in which saved shares are fetched again; `nil` if the request saves none.
    var sharesSavedIn: DatabaseScopeModel? { get }

    /// The subject of the whole request, for texts of errors.
    var subject: ErrorSubject? { get }

    /// Returns the record of a value.
    static func record(of value: Value) -> CKRecord?
    static func value(of record: CKRecord) -> Value?

    /// Returns the share of a value.
    static func share(of value: Value) -> CKShare?

    /// What the results mean for the ledgers; `nil` if nothing.
    var ledgerUse: LedgerUse? { get }
    /// Returns what a result means for the ledgers.
    func note(of itemResult: ItemResult) -> LedgerNote?
    /// Returns the result that reports an item as vanished, which the server can't do.
    func result(lost name: String, type: String) -> ItemResult?

    /// Reads a result; `nil` if it belongs to none of the items.
    func result(of item: Item, user: String) throws(WireError) -> ItemResult?
}

extension BatchRequest {
    var localResults: [ItemResult] { [] }
    var needsServer: Bool { self.itemCount > 0 }
    var needsUpload: Bool { false }
    var hasUploads: Bool { false }
    var assetSource: AssetSource? { nil }
    var sharesSavedIn: DatabaseScopeModel? { nil }
    var subject: ErrorSubject? { nil }

    var ledgerUse: LedgerUse? { nil }
    func note(of itemResult: ItemResult) -> LedgerNote? { nil }
    func result(lost name: String, type: String) -> ItemResult? { nil }

    func again(refused: [Item]) -> (request: Self, items: Set<UInt32>)? { nil }

    func uploading(by uploads: AssetUploads) async throws(CKError) -> Self { self }

    static func record(of value: Value) -> CKRecord? { nil }
    static func value(of record: CKRecord) -> Value? { nil }
    static func share(of value: Value) -> CKShare? { self.record(of: value) as? CKShare }
}

extension BatchRequest where Value == CKRecord {
    static func record(of value: CKRecord) -> CKRecord? { value }
    static func value(of record: CKRecord) -> CKRecord? { record }
}
