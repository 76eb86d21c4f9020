import Foundation
internal import RecordModel

/// Fetches one page of a zone's changes; deprecated by Apple.
///
/// Use `CKFetchRecordZoneChangesOperation`.
///
/// - Order: A record comes after its parent; changes come in the order in which they were made.
/// - Errors: `changeTokenExpired` if the token is too old or of another zone (start again without
///   one); `zoneNotFound` if the zone does not exist (create it).
/// - Source: Apple's `CKFetchRecordChangesOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zone; if it is `nil`, the operation fails with `invalidArguments`.
    @NSCopying open var recordZoneID: CKRecordZone.ID?
    /// The position to continue from; `nil` if everything in the zone is to come.
    @NSCopying open var previousServerChangeToken: CKServerChangeToken?
    /// The largest number of changes on the page; 0 if the server decides.
    open var resultsLimit: Int = 0
    /// The fields to fetch; all if `nil`, none if empty.
    ///
    /// The system's fields always come.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// Called once for each record that was created or changed.
    open var recordChangedBlock: ((CKRecord) -> Void)?
    /// Called once for each record that was deleted.
    open var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?
    /// Called once, last, with the token to continue from, the zone's `clientChangeTokenData`, and
    /// the error.
    open var fetchRecordChangesCompletionBlock: ((CKServerChangeToken?, Data?, (any Error)?) -> Void)?

    /// Whether more changes are ready, for an operation that continues from this one's token.
    ///
    /// It is set when the completion block is called.
    open var moreComing: Bool { self.last?.moreComing ?? false }

    /// Used on the callback queue until the operation has finished.
    private var last: FeedPageContent<ZoneChangesPage>?

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fetches one page of a zone's changes.
    ///
    /// - Parameters:
    ///   - recordZoneID: The zone.
    ///   - previousServerChangeToken: The position to continue from. If `nil`, everything in the
    ///     zone comes.
    public convenience init(
        recordZoneID: CKRecordZone.ID,
        previousServerChangeToken: CKServerChangeToken?
    ) {
        self.init()
        self.recordZoneID = recordZoneID
        self.previousServerChangeToken = previousServerChangeToken
    }

    /// Sends the request.
    open override func main() { self.fetchChanges() }

    /// Fetches the page, from the server or from a source that tests give.
    func fetchChanges(from source: PageSource<ZoneChangesPage>? = nil) {
        guard let zoneID = self.recordZoneID else {
            if self.claim() {
                self.conclude(with: .local(.invalidArguments, "A fetch of changes needs a zone"))
            }
            return
        }
        self.run { database in
            FeedReader(
                first: ZoneChangesPage(
                    zoneID,
                    since: self.previousServerChangeToken,
                    desiredKeys: self.desiredKeys,
                    limit: self.resultsLimit,
                    scope: database.scopeModel
                ),
                readsAll: false,
                source: source
                    ?? database.access.pages(
                        timeouts: self.effectiveSettings.timeouts,
                        withFiles: self.effectiveSettings.withFiles
                    ),
                callBack: { self.callBack($0) },
                report: { self.report($0) }
            )
        }?.start()
    }

    private func report(_ report: FeedReader<ZoneChangesPage>.Report) {
        switch report {
        case .page(let content, _):
            var failures: [AnyHashable: any Error] = [:]
            for itemResult in content.results {
                guard case .value(let id, let result) = itemResult else { continue }
                switch result {
                case .success(.saved(let record)): self.recordChangedBlock?(record)
                case .success(.deleted): self.recordWithIDWasDeletedBlock?(id)
                case .failure(let error): failures[id] = error
                }
            }
            self.last = content
            self.concludeHere(
                with: failures.isEmpty
                    ? nil : .partialFailure(failures, message: "Failed to fetch some records")
            )
        case .failed(let error): self.concludeHere(with: error)
        }
    }

    override func report(_ error: CKError?) {
        let last = error == nil ? self.last : nil
        self.fetchRecordChangesCompletionBlock?(last?.token, last?.clientTokenData, error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.recordChangedBlock = nil
        self.recordWithIDWasDeletedBlock = nil
        self.fetchRecordChangesCompletionBlock = nil
    }
}
