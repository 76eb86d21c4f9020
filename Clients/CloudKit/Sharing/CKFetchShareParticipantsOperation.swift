import Foundation

/// Looks for people to invite to a share.
///
/// - Shape: At most 400, else `limitExceeded`. Who is named several times is looked for once.
/// - Errors: Somebody whom the server does not know has `unknownItem`. The result block gets a success then; the deprecated completion
///   block gets a `partialFailure`.
// SAFETY: see `CKOperation`.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    /// Whom to look for.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Called for everybody who was found.
    ///
    /// Deprecated by Apple; not called if there is a `perShareParticipantResultBlock`.
    open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)?
    /// Called for everybody.
    public var perShareParticipantResultBlock:
        ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
    /// Called last.
    ///
    /// Deprecated by Apple.
    open var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)?
    /// Called last.
    public var fetchShareParticipantsResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation that asks for nothing yet.
    public override init() { super.init() }

    /// Makes an operation that asks.
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
