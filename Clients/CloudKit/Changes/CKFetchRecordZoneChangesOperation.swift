import Foundation
internal import RecordModel

/// Fetches the changes of zones: changed records in their latest state, and deletions.
///
/// ```swift
/// let start = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
/// start.previousServerChangeToken = token
/// let operation = CKFetchRecordZoneChangesOperation(
///     recordZoneIDs: [zoneID],
///     configurationsByRecordZoneID: [zoneID: start]
/// )
/// operation.recordWasChangedBlock = { id, result in changed[id] = try? result.get() }
/// operation.recordWithIDWasDeletedBlock = { id, _ in changed[id] = nil }
/// operation.recordZoneFetchResultBlock = { _, result in
///     if case .success(let end) = result { token = end.serverChangeToken }
/// }
/// database.add(operation)
/// ```
///
/// - Order: Zones are reported one after the other, in the order in which they are named; up to
///   four are read at once. In each zone a record comes after its parent, and changes come in the
///   order in which they were made. The blocks of a page's records run first. Then
///   `recordZoneChangeTokensUpdatedBlock` runs if another page of the zone follows, else the zone's
///   result block. The blocks for the whole operation run last.
/// - Threads: See `CKOperation`.
/// - Shape: Without a token a zone's changes are all its records, without deletions. A record that
///   changes while the operation runs may come again, in its new state.
/// - Errors: An error of one zone goes to that zone's result block, and the operation succeeds. The
///   deprecated completion block then gets a `partialFailure`. An error that concerns all zones
///   goes to the operation's result block.
///
/// | error | of | what to do |
/// |---|---|---|
/// | `changeTokenExpired` | a zone | start again without a token; deletions follow |
/// | `zoneNotFound` | a zone | drop the local copy, or create the zone |
/// | `zoneBusy` | a zone | fetch again after `retryAfterSeconds` |
/// | `networkFailure`, `serviceUnavailable` | all | repeat, with the tokens that were reported |
/// | `notAuthenticated` | all | sign in |
///
/// - Source: Apple's `CKFetchRecordZoneChangesOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// What to fetch of one zone's changes.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// The zones; `nil` if those that have a configuration.
    ///
    /// A zone that is named several times is fetched once.
    open var recordZoneIDs: [CKRecordZone.ID]?
    /// The start and the fields of each zone; a zone without a configuration starts with all its
    /// records.
    open var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// Whether to continue in each zone until no more changes are ready, or to end after one page.
    open var fetchAllChanges = true

    /// Called once for each record that was created or changed.
    ///
    /// Deprecated by Apple; not called if there is a `recordWasChangedBlock`.
    open var recordChangedBlock: ((CKRecord) -> Void)?
    /// Called once for each record that was created or changed, or that could not be fetched.
    public var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called once for each record that was deleted, with its type.
    public var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
    /// Called between two pages of a zone, with the token to continue after the first of them.
    ///
    /// It is not called after the last page. The data is the user's newest `clientChangeTokenData` of
    /// the zone.
    open var recordZoneChangeTokensUpdatedBlock: ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// Called once for each zone, after its records.
    ///
    /// Deprecated by Apple.
    open var recordZoneFetchCompletionBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    /// Called once for each zone, after its records, with the token or the zone's error.
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
    /// Called once, last.
    ///
    /// Deprecated by Apple.
    open var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)?
    /// Called once, last; a success even if single zones failed.
    public var fetchRecordZoneChangesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Used on the callback queue only.
    private var reported: [CKRecordZone.ID: ReportedParents] = [:]

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fetches changes of zones.
    ///
    /// - Parameters:
    ///   - recordZoneIDs: The zones, in the order in which they are reported. If `nil`, those that
    ///     have a configuration.
    ///   - configurationsByRecordZoneID: The start and the fields of each zone; a zone without one
    ///     starts with all its records.
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

    /// Fetches pages, from the server or from a source that tests give.
    func fetchChanges(from source: PageSource<ZoneChangesPage>? = nil) {
        self.run { database in
            ZoneFeeds(
                self.pages(scope: database.scopeModel),
                readsAll: self.fetchAllChanges,
                source: source
                    ?? database.access.pages(
                        timeouts: self.effectiveSettings.timeouts,
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
            for itemResult in content.results { self.reportItem(itemResult, of: zoneID) }
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

    private func reportItem(_ itemResult: ZoneChangesPage.ItemResult, of zoneID: CKRecordZone.ID) {
        guard case .value(let id, let result) = itemResult else { return }
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
    ///
    /// - Parameters:
    ///   - recordZoneIDs: The zones, in the order in which they are reported.
    ///   - optionsByRecordZoneID: The start and the fields of each zone; a zone without one starts
    ///     with all its records.
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
