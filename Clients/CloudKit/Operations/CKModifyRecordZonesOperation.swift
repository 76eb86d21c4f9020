import Foundation

/// Creates and deletes record zones; a zone is deleted with everything in it.
///
/// - Threads: See `CKOperation`.
/// - Shape: At most 400 items, else `limitExceeded`. A zone that is named twice is
///   `invalidArguments`.
/// - Durability: A zone that is reported as saved or deleted is so on the server's disk.
/// - Errors: Creating a zone that exists succeeds, and so does deleting one that does not. Creating
///   one outside private databases is `badDatabase`. The result block gets a success if only zones
///   failed; the deprecated completion block gets a `partialFailure`.
/// - Source: Apple's `CKModifyRecordZonesOperation`.
// SAFETY: see `CKOperation`.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to create.
    open var recordZonesToSave: [CKRecordZone]?
    /// The IDs of the zones to delete.
    open var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// Called once for each zone to create, with the zone or its error.
    public var perRecordZoneSaveBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
    /// Called once for each zone to delete, with a success or its error.
    public var perRecordZoneDeleteBlock: ((CKRecordZone.ID, Result<Void, any Error>) -> Void)?
    /// Called once, last; a success even if single zones failed.
    public var modifyRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
    /// Called once, last, with the created zones and the IDs of the deleted ones; `nil` for both if
    /// the whole request failed.
    ///
    /// Deprecated by Apple.
    open var modifyRecordZonesCompletionBlock: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

    /// Used on the callback queue only.
    private var savedZones: [CKRecordZone] = []
    private var deletedZoneIDs: [CKRecordZone.ID] = []

    /// Makes an operation that does nothing yet.
    public override init() { super.init() }

    /// Makes an operation that creates and deletes zones.
    ///
    /// - Parameters:
    ///   - recordZonesToSave: The zones to create; at most 400 items with the deletions.
    ///   - recordZoneIDsToDelete: The IDs of the zones to delete; none that is also created.
    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil,
        recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    /// Sends the request.
    open override func main() {
        self.send { scope throws(CKError) in
            try ZoneModification(
                saving: self.recordZonesToSave ?? [],
                deleting: self.recordZoneIDsToDelete ?? [],
                scope: scope
            )
        } results: { itemResult in
            switch itemResult {
            case .value(let id, let result):
                if case .success(let zone) = result { self.savedZones.append(zone) }
                self.perRecordZoneSaveBlock?(id, result)
            case .deletion(let id, let result):
                if case .success = result { self.deletedZoneIDs.append(id) }
                self.perRecordZoneDeleteBlock?(id, result)
            }
        }
    }

    override func report(_ error: CKError?) {
        self.modifyRecordZonesResultBlock?(error.requestResult)
        let isAnswered = error.requestError == nil
        self.modifyRecordZonesCompletionBlock?(
            isAnswered ? self.savedZones : nil,
            isAnswered ? self.deletedZoneIDs : nil,
            error
        )
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perRecordZoneSaveBlock = nil
        self.perRecordZoneDeleteBlock = nil
        self.modifyRecordZonesResultBlock = nil
        self.modifyRecordZonesCompletionBlock = nil
    }
}
