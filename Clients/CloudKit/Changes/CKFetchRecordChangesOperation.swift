import Foundation
internal import RecordModel

/// Fetches a page of what changed in one zone; deprecated by Apple.
///
/// Use `CKFetchRecordZoneChangesOperation`.
///
/// - Order: A record comes after its parent, and changes in the order in which they were made.
/// - Errors: `changeTokenExpired` when the token is too old or another zone's, `zoneNotFound` when the zone does not exist.
// SAFETY: see `CKOperation`.
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zone; `nil`: `invalidArguments`.
    @NSCopying open var recordZoneID: CKRecordZone.ID?
    /// Where to begin; `nil`: with all that is in the zone.
    @NSCopying open var previousServerChangeToken: CKServerChangeToken?
    /// The most changes of the page; 0: as many as the server gives.
    open var resultsLimit: Int = 0
    /// The fields to fetch: `nil` all, empty none.
    ///
    /// The system's fields always come.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// Called for every record that was created or changed.
    open var recordChangedBlock: ((CKRecord) -> Void)?
    /// Called for every record that was deleted.
    open var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?
    /// Called last, with the token for the next operation and the `clientChangeTokenData` that is kept with the zone.
    open var fetchRecordChangesCompletionBlock: ((CKServerChangeToken?, Data?, (any Error)?) -> Void)?

    /// Whether there is more already, for another operation that begins where this one ended.
    ///
    /// Set when the completion block is called.
    open var moreComing: Bool { self.last?.moreComing ?? false }

    /// On the callback queue until the operation has finished.
    private var last: FeedPageContent<ZoneChangesPage>?

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fetches a page of a zone's changes.
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

    /// Asks for the page, from the server unless tests say where else.
    func fetchChanges(from source: PageSource<ZoneChangesPage>? = nil) {
        guard let zoneID = self.recordZoneID else {
            if self.claim() {
                self.conclude(with: .local(.invalidArguments, "An operation for changes needs a zone"))
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
                        patience: self.effectiveSettings.patience,
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
            for answer in content.answers {
                guard case .value(let id, let result) = answer else { continue }
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
