import Foundation
internal import RecordModel

/// Fetches the zones of a database that changed or were deleted.
///
/// ```swift
/// let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
/// operation.recordZoneWithIDChangedBlock = { changed.append($0) }
/// operation.recordZoneWithIDWasDeletedBlock = { deleted.append($0) }
/// operation.fetchDatabaseChangesResultBlock = { result in
///     if case .success(let end) = result { token = end.serverChangeToken }
/// }
/// database.add(operation)
/// ```
///
/// - Order: Zones come in the order of their latest changes. The blocks of a page's zones run
///   first. Then `changeTokenUpdatedBlock` runs if another page follows. The blocks for the whole
///   operation run last.
/// - Threads: See `CKOperation`.
/// - Shape: Without a token every zone of the database comes, the default zone included. A zone
///   that changes while the operation runs may come again.
/// - Errors: `changeTokenExpired` if the token is too old or of another database: start again
///   without a token.
/// - Source: Apple's `CKFetchDatabaseChangesOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The position to continue from; `nil` if the operation starts with all zones.
    @NSCopying open var previousServerChangeToken: CKServerChangeToken?
    /// The largest number of zones on a page; 0 if the server decides.
    open var resultsLimit: Int = 0
    /// Whether to continue until no more changes are ready, or to end after one page.
    open var fetchAllChanges = true

    /// Called once for each zone that was created or in which a record changed.
    open var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
    /// Called once for each zone that was deleted.
    open var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
    /// Never sent: there are no settings in which a user could remove an app's data.
    open var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
    /// Never called: the server has no keys that could be lost.
    open var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((CKRecordZone.ID) -> Void)?
    /// Called between two pages, with the token to continue after the first of them.
    ///
    /// It is not called after the last page.
    open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
    /// Called once, last, with the token, whether more changes are ready, and the error.
    ///
    /// Deprecated by Apple.
    open var fetchDatabaseChangesCompletionBlock: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    /// Called once, last, with the token and whether more changes are ready, or with the error.
    public var fetchDatabaseChangesResultBlock:
        ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void)?

    /// Used on the callback queue only.
    private var last: (token: CKServerChangeToken, moreComing: Bool)?

    /// Makes an operation that starts with all zones.
    public override init() { super.init() }

    /// Makes an operation that continues from a token.
    ///
    /// - Parameter previousServerChangeToken: The token of the last page that was applied. If
    ///   `nil`, the operation starts with all zones.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    /// Sends the requests.
    open override func main() { self.fetchChanges() }

    /// Fetches pages, from the server or from a source that tests give.
    func fetchChanges(from source: PageSource<DatabaseChangesPage>? = nil) {
        self.run { database in
            FeedReader(
                first: DatabaseChangesPage(
                    since: self.previousServerChangeToken,
                    limit: self.resultsLimit,
                    scope: database.scopeModel
                ),
                readsAll: self.fetchAllChanges,
                source: source ?? database.access.pages(timeouts: self.effectiveSettings.timeouts),
                callBack: { self.callBack($0) },
                report: { self.report($0) }
            )
        }?.start()
    }

    private func report(_ report: FeedReader<DatabaseChangesPage>.Report) {
        switch report {
        case .page(let content, let isLast):
            for itemResult in content.results {
                guard case .value(let zoneID, .success(let change)) = itemResult else { continue }
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
