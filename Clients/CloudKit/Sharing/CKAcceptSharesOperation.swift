import Foundation

/// Joins shares; see `CKContainer.accept(_:)`.
///
/// ```swift
/// let operation = CKAcceptSharesOperation(shareMetadatas: [metadata])
/// operation.perShareResultBlock = { metadata, result in
///     if case .failure(let error) = result { print(metadata.containerIdentifier, error) }
/// }
/// container.add(operation)
/// ```
///
/// - Shape: At most 400, else `limitExceeded`. Accepting a share again changes nothing.
/// - Threads: See `CKOperation`.
/// - Durability: A share that is reported as accepted is so on the server's disk. Its records are
///   then in the shared database.
/// - Errors: A share that no longer exists has `unknownItem` (ask for a new URL). One to which the
///   user was not invited has `permissionFailure` (ask the owner for access). The result block gets
///   a success then; the deprecated completion block gets a `partialFailure`.
/// - Source: Apple's `CKAcceptSharesOperation`.
// SAFETY: see `CKOperation`.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    /// The metadata of the shares, from their URLs.
    open var shareMetadatas: [CKShare.Metadata]?

    /// Called once for each share, with the share or its error.
    ///
    /// Deprecated by Apple; not called if there is a `perShareResultBlock`.
    open var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    /// Called once for each share, with the share in the shared database or its error.
    public var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// Called last.
    ///
    /// Deprecated by Apple.
    open var acceptSharesCompletionBlock: (((any Error)?) -> Void)?
    /// Called once, last; a success even if single items failed.
    public var acceptSharesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation without items yet.
    public override init() { super.init() }

    /// Makes an operation that joins shares.
    ///
    /// - Parameter shareMetadatas: At most 400, else the operation fails with `limitExceeded`.
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
                result.report { self.perShareCompletionBlock?(id, $0, $1) }
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
