public import Foundation

/// Fetches the metadata of shares by their URLs.
///
/// - Threads: See `CKOperation`.
/// - Shape: At most 400 URLs, else `limitExceeded`. One that is named several times is fetched
///   once.
/// - Errors: A URL that is not one of a share has `invalidArguments`; one that leads nowhere has
///   `unknownItem`. The result block gets a success then; the deprecated completion block gets a
///   `partialFailure`.
/// - Source: Apple's `CKFetchShareMetadataOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    /// The URLs.
    open var shareURLs: [URL]?
    /// Whether to fetch the root records too; `false` by default.
    open var shouldFetchRootRecord: Bool = false
    /// The fields of the root records to fetch; all if `nil`, none if empty.
    open var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// Called once for each URL, with the metadata or the error.
    ///
    /// Deprecated by Apple; not called if there is a `perShareMetadataResultBlock`.
    open var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    /// Called once for each URL, with the metadata or the error.
    public var perShareMetadataResultBlock: ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
    /// Called last.
    ///
    /// Deprecated by Apple.
    open var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)?
    /// Called once, last; a success even if single items failed.
    public var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation without items yet.
    public override init() { super.init() }

    /// Makes an operation that fetches metadata.
    ///
    /// - Parameter shareURLs: At most 400 URLs, else the operation fails with `limitExceeded`.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    /// Sends the request.
    open override func main() {
        self.send { () throws(CKError) in
            ShareMetadataFetch(
                self.shareURLs ?? [],
                rootRecords: self.shouldFetchRootRecord,
                desiredKeys: self.rootRecordDesiredKeys
            )
        } toValues: { id, result in
            if let block = self.perShareMetadataResultBlock {
                block(id, result)
            } else {
                result.report { self.perShareMetadataBlock?(id, $0, $1) }
            }
        }
    }

    override func report(_ error: CKError?) {
        self.fetchShareMetadataResultBlock?(error.requestResult)
        self.fetchShareMetadataCompletionBlock?(error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perShareMetadataResultBlock = nil
        self.fetchShareMetadataResultBlock = nil
        self.perShareMetadataBlock = nil
        self.fetchShareMetadataCompletionBlock = nil
    }
}
