public import Foundation

/// Finds out what the URLs of shares lead to.
///
/// - Shape: At most 400 URLs, else `limitExceeded`. One that is named several times is looked at once.
/// - Errors: A URL that is no share's has `invalidArguments`, one that leads to nothing `unknownItem`. The result block gets a success
///   then; the deprecated completion block gets a `partialFailure`.
// SAFETY: see `CKOperation`.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    /// The URLs.
    open var shareURLs: [URL]?
    /// Whether the records that are shared are wanted too.
    ///
    /// `false`.
    open var shouldFetchRootRecord: Bool = false
    /// The fields of those records to fetch: `nil` all, empty none.
    open var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// Called for every URL.
    ///
    /// Deprecated by Apple; not called if there is a `perShareMetadataResultBlock`.
    open var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    /// Called for every URL.
    public var perShareMetadataResultBlock: ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
    /// Called last.
    ///
    /// Deprecated by Apple.
    open var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)?
    /// Called last.
    public var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?

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
            ShareMetadataFetch(
                self.shareURLs ?? [],
                rootRecords: self.shouldFetchRootRecord,
                desiredKeys: self.rootRecordDesiredKeys
            )
        } toValues: { id, result in
            if let block = self.perShareMetadataResultBlock {
                block(id, result)
            } else {
                result.tell { self.perShareMetadataBlock?(id, $0, $1) }
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
