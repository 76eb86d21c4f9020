public import Foundation
import PredicateFormat
internal import RecordModel

/// A subscription to the records of a type that match a predicate.
///
/// The subscription remembers a predicate that a query can't ask: saving it fails with
/// `CKError.Code.invalidArguments` and the text of Apple's exception. `now()` in the predicate is
/// the time at which the subscription was made.
///
/// - Source: Apple's `CKQuerySubscription`.
// SAFETY: see `CKSubscription`.
open class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    /// The changes that a subscription notifies.
    public struct Options: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: UInt

        /// Creates options from bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A record is created that matches the predicate.
        public static let firesOnRecordCreation = Options(rawValue: 1 << 0)
        /// A record is changed and then matches the predicate.
        public static let firesOnRecordUpdate = Options(rawValue: 1 << 1)
        /// A record is deleted that matched the predicate.
        public static let firesOnRecordDeletion = Options(rawValue: 1 << 2)
        /// The first notification deletes the subscription.
        public static let firesOnce = Options(rawValue: 1 << 3)
    }

    /// The type of the records.
    public var recordType: CKRecord.RecordType? { self.storedType }

    /// The condition on the records: the predicate that was given, not a copy.
    open var predicate: NSPredicate { self.storedPredicate }

    /// The zone; `nil` if all zones of the database count.
    @NSCopying open var zoneID: CKRecordZone.ID?

    /// The changes that the subscription notifies.
    open var querySubscriptionOptions: Options { self.storedOptions }

    /// The kind of the subscription: `query`.
    open override var subscriptionType: SubscriptionType { .query }

    private let storedType: CKRecord.RecordType
    private let storedPredicate: NSPredicate
    private let storedOptions: Options
    private let condition: Result<RecordModel.Predicate, CKError>

    init(
        storing recordType: CKRecord.RecordType,
        predicate: NSPredicate,
        subscriptionID: CKSubscription.ID,
        options: Options,
        condition: Result<RecordModel.Predicate, CKError>
    ) {
        self.storedType = recordType
        self.storedPredicate = predicate
        self.storedOptions = options
        self.condition = condition
        super.init(storing: subscriptionID)
    }

    /// Creates a subscription.
    ///
    /// - Parameters:
    ///   - recordType: The type of the records; not empty.
    ///   - predicate: The condition. If a query can't ask it, the save fails with
    ///     `invalidArguments`.
    ///   - subscriptionID: 1 to 255 printable ASCII characters, unique among the user's
    ///     subscriptions in the database.
    ///   - querySubscriptionOptions: The changes that it notifies: at least one kind, else the save
    ///     fails with `invalidArguments`.
    public required convenience init(
        recordType: CKRecord.RecordType,
        predicate: NSPredicate,
        subscriptionID: CKSubscription.ID,
        options querySubscriptionOptions: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        self.init(
            storing: recordType,
            predicate: predicate,
            subscriptionID: subscriptionID,
            options: querySubscriptionOptions,
            condition: CKQuery.condition(predicate, now: Date())
        )
    }

    /// Creates a subscription with a random ID.
    ///
    /// - Parameters:
    ///   - recordType: The type of the records; not empty.
    ///   - predicate: The condition. If a query can't ask it, the save fails with
    ///     `invalidArguments`.
    ///   - querySubscriptionOptions: The changes that it notifies: at least one kind, else the save
    ///     fails with `invalidArguments`.
    @available(*, deprecated, message: "Use init(recordType:predicate:subscriptionID:options:).")
    public convenience init(
        recordType: CKRecord.RecordType,
        predicate: NSPredicate,
        options querySubscriptionOptions: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        self.init(
            recordType: recordType,
            predicate: predicate,
            subscriptionID: UUID().uuidString,
            options: querySubscriptionOptions
        )
    }

    /// Reads an archived subscription; `nil` if the archive has none.
    ///
    /// The archived predicate is one from a format, whatever it was made of. A block is not
    /// written, but the archive remembers that a subscription can't have one.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), body.isSubscription(.query),
            let recordType = body.text("recordType"), let options = body.integer("options"),
            let predicate = PredicateArchive(body).map({ _CKFormatPredicate($0) })
        else { return nil }
        self.storedType = recordType
        self.storedPredicate = predicate
        self.storedOptions = Options(rawValue: UInt(truncatingIfNeeded: options))
        self.condition = CKQuery.condition(predicate, now: Date())
        super.init(coder: coder)
        self.zoneID = body.archivedZoneID
    }

    override var ownParts: [Field] {
        let parts = [
            Field("recordType", .string(self.storedType)),
            Field("options", .int64(Int64(truncatingIfNeeded: self.storedOptions.rawValue))),
        ]
        return parts + PredicateArchive(self.storedPredicate).parts + (self.zoneID?.archivedParts ?? [])
    }

    override func bareCopy() -> CKSubscription {
        let copy = CKQuerySubscription(
            storing: self.storedType,
            predicate: self.storedPredicate,
            subscriptionID: self.subscriptionID,
            options: self.storedOptions,
            condition: self.condition
        )
        copy.zoneID = self.zoneID
        return copy
    }

    override func kind() throws(CKError) -> RecordModel.Subscription.Kind {
        guard !self.storedType.isEmpty else {
            throw .local(.invalidArguments, "A query subscription needs a record type")
        }
        let firesOn = RecordModel.Subscription.FiresOn(
            rawValue: UInt32(clamping: self.storedOptions.rawValue)
        )
        guard firesOn.isSubset(of: .all), !firesOn.isDisjoint(with: .events) else {
            throw .local(
                .invalidArguments,
                "A query subscription fires on the creation, the update or the deletion of records: its options name none of these"
            )
        }
        return .query(
            recordType: self.storedType,
            predicate: try self.condition.get(),
            zone: self.zoneID?.model,
            firesOn: firesOn
        )
    }
}

extension CKRecordZoneID {
    /// The archived parts of the zone of another object.
    var archivedParts: [Field] {
        [Field("zoneName", .string(self.zoneName)), Field("ownerName", .string(self.ownerName))]
    }
}

extension ArchivedBody {
    /// The archived zone of another object; `nil` if there is none.
    var archivedZoneID: CKRecordZone.ID? {
        guard let zoneName = self.text("zoneName"), let ownerName = self.text("ownerName") else { return nil }
        return CKRecordZone.ID(zoneName: zoneName, ownerName: ownerName)
    }
}
