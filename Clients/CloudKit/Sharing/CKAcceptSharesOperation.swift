import Foundation

/// Joins shares.
///
/// - Shape: At most 400, else `limitExceeded`. Accepting a share again changes nothing.
/// - Durability: What is reported as accepted is on the server's disk; the records are in the shared database then.
/// - Errors: A share that is gone has `unknownItem`, one to which the user was not invited `permissionFailure`. The result block
///   gets a success then; the deprecated completion block gets a `partialFailure`.
// SAFETY: see `CKOperation`.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    /// What the URLs of the shares led to.
    open var shareMetadatas: [CKShare.Metadata]?

    /// Called for every share.
    ///
    /// Deprecated by Apple; not called if there is a `perShareResultBlock`.
    open var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    /// Called for every share.
    public var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// Called last.
    ///
    /// Deprecated by Apple.
    open var acceptSharesCompletionBlock: (((any Error)?) -> Void)?
    /// Called last.
    public var acceptSharesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation that asks for nothing yet.
    public override init() { super.init() }

    /// Makes an operation that asks.
    public convenience init(shareMetadatas: [CKShare.Metadata]) {
        self.init()
        self.shareMetadatas = shareMetadatas
    }

    /// Sends the request.
    open override func main() {
        self.send { () throws(CKError) in
            ShareJoining(self.shareMetadatas ?? [])
        } toValues: { id, result in
            if let block = self.perShareResultBlock {
                block(id, result)
            } else {
                result.tell { self.perShareCompletionBlock?(id, $0, $1) }
            }
        }
    }

    override func report(_ error: CKError?) {
        self.acceptSharesResultBlock?(error.requestResult)
        self.acceptSharesCompletionBlock?(error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perShareResultBlock = nil
        self.acceptSharesResultBlock = nil
        self.perShareCompletionBlock = nil
        self.acceptSharesCompletionBlock = nil
    }
}
