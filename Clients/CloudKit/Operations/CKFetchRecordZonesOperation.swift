import Foundation

/// Fetches record zones: those with certain IDs, or all of a database.
///
/// - Threads: See `CKOperation`.
/// - Shape: At most 400 IDs, else `limitExceeded`. An ID that is named several times is fetched and
///   reported once.
/// - Errors: A zone that does not exist has `zoneNotFound` (create it). The result block gets a
///   success then; the deprecated completion block gets a `partialFailure`.
/// - Source: Apple's `CKFetchRecordZonesOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The IDs of the zones to fetch; ignored by an operation that fetches all.
    open var recordZoneIDs: [CKRecordZone.ID]?

    /// Called once for each zone, in any order, with the zone or its error.
    public var perRecordZoneResultBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
    /// Called once, last; a success even if single items failed.
    public var fetchRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
    /// Called once, last, with the zones found; `nil` instead if the whole request failed.
    ///
    /// Deprecated by Apple.
    open var fetchRecordZonesCompletionBlock: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

    /// Used on the callback queue only.
    private var found: [CKRecordZone.ID: CKRecordZone] = [:]
    private var isForAll = false

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fetches zones.
    ///
    /// - Parameter recordZoneIDs: At most 400 IDs, else the operation fails with `limitExceeded`.
    public convenience init(recordZoneIDs: [CKRecordZone.ID]) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
    }

    /// Makes an operation that fetches all zones of its database, including the default zone.
    open class func fetchAllRecordZonesOperation() -> Self {
        let operation = Self.madeByDefault()
        operation.isForAll = true
        return operation
    }

    /// Sends the request.
    open override func main() {
        self.send {
            ZoneFetch(self.isForAll ? nil : self.recordZoneIDs ?? [], scope: $0)
        } results: { itemResult in
            guard case .value(let id, let result) = itemResult else { return }
            if case .success(let zone) = result { self.found[id] = zone }
            self.perRecordZoneResultBlock?(id, result)
        }
    }

    override func report(_ error: CKError?) {
        self.fetchRecordZonesResultBlock?(error.requestResult)
        let isAnswered = error.requestError == nil
        self.fetchRecordZonesCompletionBlock?(isAnswered ? self.found : nil, error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perRecordZoneResultBlock = nil
        self.fetchRecordZonesResultBlock = nil
        self.fetchRecordZonesCompletionBlock = nil
    }
}
