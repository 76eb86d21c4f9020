import Foundation

/// Finds users by addresses; deprecated by Apple.
///
/// Always fails with `permissionFailure`: a Tidemark server has no such thing. Use `CKFetchShareParticipantsOperation`.
// SAFETY: see `CKOperation`.
@available(*, deprecated, message: "No longer supported. Will always fail.")
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    /// Whom to look for.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// Never called.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
    /// Called last.
    open var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?
    /// Called last.
    public var discoverUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation that looks for nobody yet.
    public override init() { super.init() }

    /// Makes an operation that looks for people.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// Fails.
    open override func main() {
        if self.claim() { self.conclude(with: .notDiscoverable) }
    }

    override func report(_ error: CKError?) {
        self.discoverUserIdentitiesResultBlock?(error.requestResult)
        self.discoverUserIdentitiesCompletionBlock?(error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.userIdentityDiscoveredBlock = nil
        self.discoverUserIdentitiesCompletionBlock = nil
        self.discoverUserIdentitiesResultBlock = nil
    }
}

/// Finds the users in the address book; deprecated by Apple.
///
/// Always fails with `permissionFailure`: there is no address book here.
// SAFETY: see `CKOperation`.
@available(*, deprecated, message: "No longer supported. Will always fail.")
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    /// Never called.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?
    /// Called last.
    open var discoverAllUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?
    /// Called last.
    public var discoverAllUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation.
    public override init() { super.init() }

    /// Fails.
    open override func main() {
        if self.claim() { self.conclude(with: .notDiscoverable) }
    }

    override func report(_ error: CKError?) {
        self.discoverAllUserIdentitiesResultBlock?(error.requestResult)
        self.discoverAllUserIdentitiesCompletionBlock?(error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.userIdentityDiscoveredBlock = nil
        self.discoverAllUserIdentitiesCompletionBlock = nil
        self.discoverAllUserIdentitiesResultBlock = nil
    }
}
