import Foundation

/// Finds users by addresses; deprecated by Apple.
///
/// It always fails with `permissionFailure`, because a Tidemark server has no such service. Use
/// `CKFetchShareParticipantsOperation`.
///
/// - Source: Apple's `CKDiscoverUserIdentitiesOperation`.
// SAFETY: see `CKOperation`.
@available(*, deprecated, message: "No longer supported. Will always fail.")
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    /// The people to look up.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// Never called.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
    /// Called once, last, with the error.
    open var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?
    /// Called once, last, with the error.
    public var discoverUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation without people yet.
    public override init() { super.init() }

    /// Makes an operation that fails with `permissionFailure`.
    ///
    /// - Parameter userIdentityLookupInfos: The people; they are not looked up.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// Fails the operation.
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
/// It always fails with `permissionFailure`, because there is no address book here.
///
/// - Source: Apple's `CKDiscoverAllUserIdentitiesOperation`.
// SAFETY: see `CKOperation`.
@available(*, deprecated, message: "No longer supported. Will always fail.")
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    /// Never called.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?
    /// Called once, last, with the error.
    open var discoverAllUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?
    /// Called once, last, with the error.
    public var discoverAllUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Makes an operation.
    public override init() { super.init() }

    /// Fails the operation.
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
