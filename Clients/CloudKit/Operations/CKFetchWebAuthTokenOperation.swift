import Foundation

/// Fetches a token for web pages.
///
/// It always fails with `serverRejectedRequest`, because a Tidemark server has no clients in web
/// pages. It is declared for published code that names it.
///
/// - Source: Apple's `CKFetchWebAuthTokenOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchWebAuthTokenOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The token of the web pages' API.
    open var apiToken: String?

    /// Called once, last, with the error.
    ///
    /// Deprecated by Apple.
    open var fetchWebAuthTokenCompletionBlock: ((String?, (any Error)?) -> Void)?
    /// Called once, last, with the error.
    public var fetchWebAuthTokenResultBlock: ((Result<String, any Error>) -> Void)?

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fails with `serverRejectedRequest`.
    ///
    /// - Parameter apiToken: Has no effect.
    public convenience init(apiToken: String) {
        self.init()
        self.apiToken = apiToken
    }

    /// Fails the operation.
    open override func main() {
        let text = "There are no tokens for web pages: a Tidemark server has no clients there"
        if self.claim() { self.conclude(with: .local(.serverRejectedRequest, text)) }
    }

    override func report(_ error: CKError?) {
        guard let error else { return }
        self.fetchWebAuthTokenResultBlock?(.failure(error))
        self.fetchWebAuthTokenCompletionBlock?(nil, error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.fetchWebAuthTokenCompletionBlock = nil
        self.fetchWebAuthTokenResultBlock = nil
    }
}
