public import Foundation
internal import RecordModel

/// A subscription to changes in all custom zones of a database, including the creation and deletion
/// of zones.
///
/// - Source: Apple's `CKDatabaseSubscription`.
// SAFETY: see `CKSubscription`.
open class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    /// The type of the records that count; `nil` if all do.
    public var recordType: CKRecord.RecordType?

    /// The kind of the subscription: `database`.
    open override var subscriptionType: SubscriptionType { .database }

    /// Creates a subscription.
    ///
    /// - Parameter subscriptionID: An ID that is unique among the user's subscriptions in the
    ///   database.
    public required convenience init(subscriptionID: CKSubscription.ID) {
        self.init(storing: subscriptionID)
    }

    /// Creates a subscription with a random ID.
    @available(*, deprecated, message: "Use init(subscriptionID:).")
    public convenience init() {
        self.init(subscriptionID: UUID().uuidString)
    }

    override init(storing subscriptionID: CKSubscription.ID) {
        super.init(storing: subscriptionID)
    }

    /// Reads an archived subscription; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), body.isSubscription(.database) else { return nil }
        self.recordType = body.text("recordType")
        super.init(coder: coder)
    }

    override var ownParts: [Field] {
        self.recordType.map { [Field("recordType", .string($0))] } ?? []
    }

    override func bareCopy() -> CKSubscription {
        let copy = CKDatabaseSubscription(subscriptionID: self.subscriptionID)
        copy.recordType = self.recordType
        return copy
    }

    override func kind() throws(CKError) -> RecordModel.Subscription.Kind {
        .database(recordType: self.recordType)
    }
}
