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

    /// The number of items that get results from the server, numbered from 0; `nil` if only the
    /// response has the number.
    var itemCount: Int? { get }

    /// Its roles besides asking and reading.
    var roles: RequestRoles<Self> { get }

    /// Returns the request to send.
    ///
    /// - Parameter user: The record name of the user, empty if none is signed in.
    /// - Returns: The request.
    /// - Throws: `CKError` if no request can be made.
    func operation(user: String) throws(CKError) -> RequestModel

    /// Reads a result; `nil` if it belongs to none of the items.
    func result(of item: Item, user: String) throws(WireError) -> ItemResult?
}

extension ItemOutcome {
    /// Returns the error of an item that failed, or that has a result of another kind than the
    /// request.
    func error(user: String, about subject: ErrorSubject? = nil) -> CKError {
        guard case .failure(let failure) = self else { return .resultOfAnotherKind }
        return CKError(failure.about(subject), clientRecord: nil, itemID: nil, currentUser: user)
    }
}
