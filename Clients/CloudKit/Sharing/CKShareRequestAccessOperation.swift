public import Foundation

/// Asks the owners of shares to be let in.
///
/// - Shape: At most 400 URLs, else `limitExceeded`. One that is named several times is asked for once.
/// - Errors: A URL that is no share's has `invalidArguments`, one that leads to nothing, or to a share that takes no requests
///   from the user, `unknownItem`. The block for the whole operation
///   gets a success then.
// SAFETY: see `CKOperation`.
open class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
    /// The URLs of the shares.
    open var shareURLs: [URL]?

    /// Called for every URL.
    public var perShareAccessRequestResultBlock: ((URL, Result<Void, any Error>) -> Void)?
    /// Called last.
    public var shareAccessRequestResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation that asks for nothing yet.
    public override init() { super.init() }

    /// Makes an operation that asks.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    /// Sends the request.
    open override func main() {
        self.send { () throws(CKError) in
            ShareAccessRequest(self.shareURLs ?? [])
        } toValues: { id, result in
            self.perShareAccessRequestResultBlock?(id, result)
        }
    }

    override func report(_ error: CKError?) {
        self.shareAccessRequestResultBlock?(error.requestResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perShareAccessRequestResultBlock = nil
        self.shareAccessRequestResultBlock = nil
    }
}
