public import Foundation

/// Requests access to shares from their owners.
///
/// - Threads: See `CKOperation`.
/// - Shape: At most 400 URLs, else `limitExceeded`. One that is named several times is sent once.
/// - Errors: A URL that is not one of a share has `invalidArguments`. One that leads nowhere has
///   `unknownItem`, and so has one of a share that takes no requests from the user. The block for
///   the whole operation gets a success then.
/// - Source: Apple's `CKShareRequestAccessOperation`.
// SAFETY: see `CKOperation`.
open class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
    /// The URLs of the shares.
    open var shareURLs: [URL]?

    /// Called once for each URL, with a success or the error.
    public var perShareAccessRequestResultBlock: ((URL, Result<Void, any Error>) -> Void)?
    /// Called once, last; a success even if single items failed.
    public var shareAccessRequestResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation without items yet.
    public override init() { super.init() }

    /// Makes an operation that requests access.
    ///
    /// - Parameter shareURLs: At most 400 URLs, else the operation fails with `limitExceeded`.
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
