public import Foundation
internal import RecordModel

/// A subscription to changes in a custom zone.
///
/// - Source: Apple's `CKRecordZoneSubscription`.
// SAFETY: see `CKSubscription`.
open class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    /// The zone.
    @NSCopying open private(set) var zoneID: CKRecordZone.ID

    /// The type of the records that count; `nil` if all do.
    public var recordType: CKRecord.RecordType?

    /// The kind of the subscription: `recordZone`.
    open override var subscriptionType: SubscriptionType { .recordZone }

    init(storing subscriptionID: CKSubscription.ID, zoneID: CKRecordZone.ID) {
        self.zoneID = zoneID
        super.init(storing: subscriptionID)
    }

    /// Creates a subscription.
    ///
    /// - Parameters:
    ///   - zoneID: The ID of a custom zone.
    ///   - subscriptionID: An ID that is unique among the user's subscriptions in the database.
    public required convenience init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
        self.init(storing: subscriptionID, zoneID: zoneID)
    }

    /// Creates a subscription with a random ID.
    ///
    /// - Parameter zoneID: The ID of a custom zone.
    @available(*, deprecated, message: "Use init(zoneID:subscriptionID:).")
    public convenience init(zoneID: CKRecordZone.ID) {
        self.init(zoneID: zoneID, subscriptionID: UUID().uuidString)
    }

    /// Reads an archived subscription; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), body.isSubscription(.recordZone),
            let zoneID = body.archivedZoneID
        else { return nil }
        self.zoneID = zoneID
        self.recordType = body.text("recordType")
        super.init(coder: coder)
    }

    override var ownParts: [Field] {
        self.zoneID.archivedParts + (self.recordType.map { [Field("recordType", .string($0))] } ?? [])
    }

    override func bareCopy() -> CKSubscription {
        let copy = CKRecordZoneSubscription(zoneID: self.zoneID, subscriptionID: self.subscriptionID)
        copy.recordType = self.recordType
        return copy
    }

    override func kind() throws(CKError) -> RecordModel.Subscription.Kind {
        .zone(self.zoneID.model, recordType: self.recordType)
    }
}
