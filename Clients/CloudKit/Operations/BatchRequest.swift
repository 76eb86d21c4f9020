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

    /// Reads an answer; `nil` when it answers none of the items.
    func answer(to item: Item, user: String) -> Answer?
}

extension BatchRequest {
    var answeredHere: [Answer] { [] }
    var needsServer: Bool { self.itemCount > 0 }
}
