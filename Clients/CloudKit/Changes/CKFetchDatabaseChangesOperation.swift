import Foundation
internal import RecordModel

/// Fetches which zones of a database changed or were deleted.
///
/// - Order: Zones come in the order of their latest changes; for a page come the blocks of its zones, then, if another follows,
///   `changeTokenUpdatedBlock`; last come the blocks for the whole operation.
/// - Shape: Without a token every zone of the database is there, the default zone among them. A zone that changes while the operation
///   runs may come again.
/// - Errors: `changeTokenExpired` when the token is too old or another database's.
// SAFETY: see `CKOperation`.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// Where to begin; `nil`: with all zones that there are.
    @NSCopying open var previousServerChangeToken: CKServerChangeToken?
    /// The most zones of a page; 0: as many as the server gives.
    open var resultsLimit: Int = 0
    /// Whether to go on until nothing more is coming, or to end after a page.
    open var fetchAllChanges = true

    /// Called for every zone that was created or in which anything changed.
    open var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
    /// Called for every zone that was deleted.
    open var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
    /// Never called: there are no settings in which a user could remove an application's data.
    open var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
    /// Never called: no key is lost that a server would know of.
    open var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((CKRecordZone.ID) -> Void)?
    /// Called between two pages: whoever fetches from the token later gets what comes after the first of them.
    ///
    /// Never after the last page.
    open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
    /// Called last.
    ///
    /// Deprecated by Apple.
    open var fetchDatabaseChangesCompletionBlock: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    /// Called last.
    public var fetchDatabaseChangesResultBlock:
        ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void)?

    /// On the callback queue only.
    private var last: (token: CKServerChangeToken, moreComing: Bool)?

    /// Makes an operation that begins at the beginning.
    public override init() { super.init() }

    /// Makes an operation that begins where another ended.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    /// Sends the requests.
    open override func main() { self.fetchChanges() }

    /// Asks for pages, from the server unless tests say where else.
    func fetchChanges(from source: PageSource<DatabaseChangesPage>? = nil) {
        self.run { database in
            FeedReader(
                first: DatabaseChangesPage(
                    since: self.previousServerChangeToken,
                    limit: self.resultsLimit,
                    scope: database.scopeModel
                ),
                readsAll: self.fetchAllChanges,
                source: source ?? database.access.pages(patience: self.effectiveSettings.patience),
                callBack: { self.callBack($0) },
                report: { self.report($0) }
            )
        }?.start()
    }

    private func report(_ report: FeedReader<DatabaseChangesPage>.Report) {
        switch report {
        case .page(let content, let isLast):
            for answer in content.answers {
                guard case .value(let zoneID, .success(let change)) = answer else { continue }
                switch change {
                case .changed: self.recordZoneWithIDChangedBlock?(zoneID)
                case .deleted: self.recordZoneWithIDWasDeletedBlock?(zoneID)
                }
            }
            guard isLast else {
                self.changeTokenUpdatedBlock?(content.token)
                return
            }
            self.last = (content.token, content.moreComing)
            self.concludeHere(with: nil)
        case .failed(let error): self.concludeHere(with: error)
        }
    }

    override func report(_ error: CKError?) {
        if let error {
            self.fetchDatabaseChangesResultBlock?(.failure(error))
            self.fetchDatabaseChangesCompletionBlock?(nil, false, error)
        } else if let last = self.last {
            self.fetchDatabaseChangesResultBlock?(
                .success((serverChangeToken: last.token, moreComing: last.moreComing))
            )
            self.fetchDatabaseChangesCompletionBlock?(last.token, last.moreComing, nil)
        }
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.recordZoneWithIDChangedBlock = nil
        self.recordZoneWithIDWasDeletedBlock = nil
        self.recordZoneWithIDWasPurgedBlock = nil
        self.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = nil
        self.changeTokenUpdatedBlock = nil
        self.fetchDatabaseChangesCompletionBlock = nil
        self.fetchDatabaseChangesResultBlock = nil
    }
}
