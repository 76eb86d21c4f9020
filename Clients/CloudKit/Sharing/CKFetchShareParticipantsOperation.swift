import Foundation

/// Looks up people to invite to a share.
///
/// - Threads: See `CKOperation`.
/// - Shape: At most 400, else `limitExceeded`. A person who is named several times is looked up
///   once.
/// - Errors: A person whom the server does not know has `unknownItem` (share the URL instead). The
///   result block gets a success then; the deprecated completion block gets a `partialFailure`.
/// - Source: Apple's `CKFetchShareParticipantsOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    /// The people to look up.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Called once for each person who was found.
    ///
    /// Deprecated by Apple; not called if there is a `perShareParticipantResultBlock`.
    open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)?
    /// Called once for each person, with the participant or the error.
    public var perShareParticipantResultBlock:
        ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
    /// Called last.
    ///
    /// Deprecated by Apple.
    open var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)?
    /// Called once, last; a success even if single items failed.
    public var fetchShareParticipantsResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation without items yet.
    public override init() { super.init() }

    /// Makes an operation that looks up people.
    ///
    /// - Parameter userIdentityLookupInfos: At most 400 people, else the operation fails with
    ///   `limitExceeded`.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// Sends the request.
    open override func main() {
        self.send { () throws(CKError) in
            ParticipantFetch(self.userIdentityLookupInfos ?? [])
        } toValues: { id, result in
            if let block = self.perShareParticipantResultBlock {
                block(id, result)
            } else {
                if case .success(let participant) = result { self.shareParticipantFetchedBlock?(participant) }
            }
        }
    }

    override func report(_ error: CKError?) {
        self.fetchShareParticipantsResultBlock?(error.requestResult)
        self.fetchShareParticipantsCompletionBlock?(error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perShareParticipantResultBlock = nil
        self.fetchShareParticipantsResultBlock = nil
        self.shareParticipantFetchedBlock = nil
        self.fetchShareParticipantsCompletionBlock = nil
    }
}
