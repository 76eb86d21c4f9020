internal import RecordModel
internal import WireProtocol

typealias DatabaseScopeModel = RecordModel.DatabaseScope
typealias RequestModel = RecordModel.Operation

/// The answer to one item of a request.
enum ItemAnswer<ID: Hashable & Sendable, Value: Sendable>: Sendable {
    case value(ID, Result<Value, any Error>)
    case deletion(ID, Result<Void, any Error>)

    /// The item and what went wrong with it.
    var failure: (id: ID, error: any Error)? {
        switch self {
        case .value(let id, .failure(let error)), .deletion(let id, .failure(let error)): (id, error)
        case .value, .deletion: nil
        }
    }
}

/// A request and how to read its answers: one type for each thing that can be asked of a database.
protocol BatchRequest: Sendable {
    associatedtype ItemID: Hashable & Sendable
    associatedtype Value: Sendable
    typealias Answer = ItemAnswer<ItemID, Value>

    /// The text of a `partialFailure`.
    static var partialFailureText: String { get }

    /// Answers that need no server: items that the client itself refuses.
    var answeredHere: [Answer] { get }

    /// Items that the server is expected to answer, numbered from 0.
    var itemCount: Int { get }

    /// Whether anything is left to ask.
    var needsServer: Bool { get }

    /// What to send.
    ///
    /// - Parameter user: The record name of the user, empty when nobody is signed in.
    /// - Returns: The request.
    /// - Throws: Why there can be none.
    func operation(user: String) throws(CKError) -> RequestModel

    /// Whether files must be with the server before the request is sent.
    var needsUpload: Bool { get }

    /// The request with its files uploaded; items whose files could not be are answered here.
    func uploading(by uploads: AssetUploads) async throws(CKError) -> Self

    /// Whether files were uploaded for the request, which the server may have lost since.
    var hasUploads: Bool { get }

    /// What is to be sent once more, with its files, when the server has refused some items.
    ///
    /// - Returns: The request, and the numbers of the items that it is made of; `nil`: there is nothing that another attempt would help.
    func again(refused: [Item]) -> (request: Self, items: Set<UInt32>)?

    /// What to fetch of a record again while its files are downloaded; `nil`: the request brings no records.
    var assetSource: AssetSource? { get }

    /// The database in which saved shares are looked at again; `nil`: the request saves none.
    var sharesSavedIn: DatabaseScopeModel? { get }

    /// What the request as a whole is about, for texts of errors.
    var subject: ErrorSubject? { get }

    /// The record of an answer, and an answer with a record.
    static func record(of value: Value) -> CKRecord?
    static func value(of record: CKRecord) -> Value?

    /// The share of an answer.
    static func share(of value: Value) -> CKShare?

    /// What the installation keeps of the answers; `nil`: nothing.
    var ledgerUse: LedgerUse? { get }
    /// What an answer tells the installation.
    func note(of answer: Answer) -> LedgerNote?
    /// The answer that says that an item is there no more, which the server can't say.
    func answer(lost name: String, type: String) -> Answer?

    /// Reads an answer; `nil` when it answers none of the items.
    func answer(to item: Item, user: String) throws(WireError) -> Answer?
}

extension BatchRequest {
    var answeredHere: [Answer] { [] }
    var needsServer: Bool { self.itemCount > 0 }
    var needsUpload: Bool { false }
    var hasUploads: Bool { false }
    var assetSource: AssetSource? { nil }
    var sharesSavedIn: DatabaseScopeModel? { nil }
    var subject: ErrorSubject? { nil }

    var ledgerUse: LedgerUse? { nil }
    func note(of answer: Answer) -> LedgerNote? { nil }
    func answer(lost name: String, type: String) -> Answer? { nil }

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
