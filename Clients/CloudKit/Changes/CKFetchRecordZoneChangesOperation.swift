import Foundation
internal import RecordModel

/// Fetches what changed in zones: records at their latest state, and what was deleted.
///
/// - Order: Zones are told one after the other, in the order in which they are named; up to four are read at once. In each zone a record
///   comes after its parent, and changes in the order in which they were made. For a page come the blocks of its records, then, if another page of the zone
///   follows, `recordZoneChangeTokensUpdatedBlock`, else the zone's result block; last come the blocks for the whole operation.
/// - Shape: Without a token a zone's changes are all that is alive in it, without what was deleted. A record that changes
///   while the operation runs may come again, in its new state.
/// - Errors: `changeTokenExpired` for a zone whose token is too old or another zone's, `zoneNotFound` for one that does not exist: for
///   these zones alone. The result block for the operation gets a success then; the deprecated completion block gets a `partialFailure`.
// SAFETY: see `CKOperation`.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// What to fetch of one zone's changes.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// The zones; `nil`: those that have a configuration.
    ///
    /// One that is named several times is fetched once.
    open var recordZoneIDs: [CKRecordZone.ID]?
    /// Where to begin in each zone, and what to fetch; without one, with all that is in the zone.
    open var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// Whether to go on in each zone until nothing more is coming, or to end after a page.
    open var fetchAllChanges = true

    /// Called for every record that was created or changed.
    ///
    /// Deprecated by Apple; not called if there is a `recordWasChangedBlock`.
    open var recordChangedBlock: ((CKRecord) -> Void)?
    /// Called for every record that was created or changed.
    public var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called for every record that was deleted, with its type.
    public var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
    /// Called between two pages of a zone: whoever fetches from the token later gets what comes after the first of them.
    ///
    /// Never after the last page. The data is the `clientChangeTokenData` that is kept with the zone.
    open var recordZoneChangeTokensUpdatedBlock: ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// Called once for every zone.
    ///
    /// Deprecated by Apple.
    open var recordZoneFetchCompletionBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    /// Called once for every zone.
    public var recordZoneFetchResultBlock:
        (
            (
                CKRecordZone.ID,
                Result<
                    (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool),
                    any Error
                >
            ) -> Void
        )?
    /// Called last.
    ///
    /// Deprecated by Apple.
    open var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)?
    /// Called last.
    public var fetchRecordZoneChangesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// On the callback queue only.
    private var reported: [CKRecordZone.ID: ReportedParents] = [:]

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fetches changes of zones.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    /// Sends the requests.
    open override func main() { self.fetchChanges() }

    /// Asks for pages, from the server unless tests say where else.
    func fetchChanges(from source: PageSource<ZoneChangesPage>? = nil) {
        self.run { database in
            ZoneFeeds(
                self.pages(scope: database.scopeModel),
                readsAll: self.fetchAllChanges,
                source: source
                    ?? database.access.pages(
                        patience: self.effectiveSettings.patience,
                        withFiles: self.effectiveSettings.withFiles
                    ),
                callBack: { self.callBack($0) },
                report: { self.report($1, of: $0) },
                end: { self.concludeHere(with: $0) }
            )
        }?.start()
    }

    private func pages(scope: DatabaseScopeModel) -> [ZoneChangesPage] {
        let configurations = self.configurationsByRecordZoneID ?? [:]
        let ids =
            self.recordZoneIDs
            ?? configurations.keys.sorted { ($0.zoneName, $0.ownerName) < ($1.zoneName, $1.ownerName) }
        var seen: Set<CKRecordZone.ID> = []
        return ids.filter { seen.insert($0).inserted }.map { id in
            ZoneChangesPage(
                id,
                since: configurations[id]?.previousServerChangeToken,
                desiredKeys: configurations[id]?.desiredKeys,
                limit: configurations[id]?.resultsLimit,
                scope: scope
            )
        }
    }

    private func report(_ report: ZoneFeeds.Reader.Report, of zoneID: CKRecordZone.ID) {
        switch report {
        case .page(let content, let isLast):
            for answer in content.answers { self.reportItem(answer, of: zoneID) }
            self.reported[zoneID]?.pageEnded()
            guard isLast else {
                self.recordZoneChangeTokensUpdatedBlock?(zoneID, content.token, content.clientTokenData)
                return
            }
            self.recordZoneFetchResultBlock?(
                zoneID,
                .success(
                    (
                        serverChangeToken: content.token, clientChangeTokenData: content.clientTokenData,
                        moreComing: content.moreComing
                    )
                )
            )
            self.recordZoneFetchCompletionBlock?(
                zoneID,
                content.token,
                content.clientTokenData,
                content.moreComing,
                nil
            )
        case .failed(let error):
            self.recordZoneFetchResultBlock?(zoneID, .failure(error))
            self.recordZoneFetchCompletionBlock?(zoneID, nil, nil, false, error)
        }
    }

    private func reportItem(_ answer: ZoneChangesPage.Answer, of zoneID: CKRecordZone.ID) {
        guard case .value(let id, let result) = answer else { return }
        switch result {
        case .failure(let error): self.recordWasChangedBlock?(id, .failure(error))
        case .success(.deleted(let recordType)): self.recordWithIDWasDeletedBlock?(id, recordType)
        case .success(.saved(let record)):
            guard self.reported[zoneID, default: ReportedParents()].isNew(record) else { return }
            if let block = self.recordWasChangedBlock {
                block(id, .success(record))
            } else {
                self.recordChangedBlock?(record)
            }
        }
    }

    override func report(_ error: CKError?) {
        self.fetchRecordZoneChangesResultBlock?(error.requestResult)
        self.fetchRecordZoneChangesCompletionBlock?(error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.reported = [:]
        self.recordChangedBlock = nil
        self.recordWasChangedBlock = nil
        self.recordWithIDWasDeletedBlock = nil
        self.recordZoneChangeTokensUpdatedBlock = nil
        self.recordZoneFetchCompletionBlock = nil
        self.recordZoneFetchResultBlock = nil
        self.fetchRecordZoneChangesCompletionBlock = nil
        self.fetchRecordZoneChangesResultBlock = nil
    }
}

// Names from before iOS 12, which published code still uses.
extension CKFetchRecordZoneChangesOperation {
    /// What to fetch of one zone's changes; deprecated by Apple.
    public typealias ZoneOptions = CKFetchRecordZoneChangesConfiguration

    /// Makes an operation that fetches changes of zones; deprecated by Apple.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID],
        optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]?
    ) {
        self.init(recordZoneIDs: recordZoneIDs, configurationsByRecordZoneID: optionsByRecordZoneID)
    }

    /// The same as `configurationsByRecordZoneID`; deprecated by Apple.
    public var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
        get { self.configurationsByRecordZoneID }
        set { self.configurationsByRecordZoneID = newValue }
    }
}
