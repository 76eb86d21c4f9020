public import Foundation
import RecordModel

/// What a user wants to be told about: one of `CKQuerySubscription`, `CKRecordZoneSubscription` and `CKDatabaseSubscription`.
///
/// It belongs to the user who saves it, in the database it is saved in. Saving another one under the same ID replaces it.
/// Instances are not synchronised: use one from one task at a time.
open class CKSubscription: NSObject, NSSecureCoding, NSCopying {
    /// Names a subscription among the user's in a database: 1 to 255 printable ASCII characters.
    public typealias ID = String
    /// What notifications say besides what happened.
    public typealias NotificationInfo = CKNotificationInfo

    /// What a subscription is about.
    public enum SubscriptionType: Int, Sendable {
        /// Records of a type that meet a predicate.
        case query = 1
        /// A zone.
        case recordZone = 2
        /// All custom zones of a database.
        case database = 3
    }

    /// The ID of the subscription.
    public var subscriptionID: CKSubscription.ID { self.storedID }

    /// What the subscription is about.
    open var subscriptionType: SubscriptionType {
        preconditionFailure(
            "\(Self.self) is no subscription: a subclass of CKSubscription says what it is about"
        )
    }

    /// What notifications say besides what happened; `nil`: nothing.
    @NSCopying open var notificationInfo: CKSubscription.NotificationInfo?

    private let storedID: CKSubscription.ID

    init(storing subscriptionID: CKSubscription.ID) {
        self.storedID = subscriptionID
        super.init()
    }

    /// Reads what all subscriptions have; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let id = body.text("subscriptionID") else { return nil }
        self.storedID = id
        self.notificationInfo = body.bytes("info").flatMap { ArchivedBody($0) }.map { CKNotificationInfo($0) }
        super.init()
    }

    /// Writes the subscription into an archive, in one encoding for one content.
    open func encode(with coder: NSCoder) {
        var parts = [
            Field("subscriptionID", .string(self.storedID)),
            Field("subscriptionType", .int64(Int64(self.subscriptionType.rawValue))),
        ]
        parts += self.ownParts
        if let info = self.notificationInfo {
            parts.append(Field("info", .bytes(RecordBody(info.parts).bytes)))
        }
        coder.encodeBody(parts)
    }

    /// What an archive holds of what the subscription is about.
    var ownParts: [Field] { [] }

    /// Whether subscriptions may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent subscription with the same content.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = self.bareCopy()
        copy.notificationInfo = self.notificationInfo
        return copy
    }

    /// A copy without notification info.
    func bareCopy() -> CKSubscription {
        preconditionFailure(
            "\(Self.self) is no subscription: a subclass of CKSubscription says what it is about"
        )
    }

    /// What the subscription is about, as the server is told.
    ///
    /// - Throws: `CKError.Code.invalidArguments` for what no server could be told.
    func kind() throws(CKError) -> RecordModel.Subscription.Kind {
        throw .local(.invalidArguments, "A subscription is about a query, a zone or a database")
    }

    /// Whether a server takes only one of the two, whatever their IDs and notification infos: both are about the same.
    package func isAboutTheSame(as other: CKSubscription) -> Bool {
        guard let own = try? self.kind(), let others = try? other.kind() else { return false }
        return own == others
    }

    /// Returns whether an object is a subscription with the same ID, about the same, with the same notification info.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription, other.subscriptionID == self.subscriptionID,
            other.subscriptionType == self.subscriptionType,
            other.notificationInfo == self.notificationInfo
        else { return false }
        return RecordBody(other.ownParts) == RecordBody(self.ownParts)
    }

    /// The hash of the ID, which never changes.
    open override var hash: Int { self.storedID.hashValue }

    /// The subscription for people to read.
    open override var description: String { "<\(Self.self): subscriptionID=\(self.storedID)>" }
}

// SAFETY: as Apple's, the class leaves it to its user not to change it in two threads at once.
extension CKSubscription: @unchecked Sendable {}

extension CKSubscription {
    /// The subscription as the server is told.
    ///
    /// - Throws: `CKError.Code.invalidArguments` for what no server could be told.
    func model() throws(CKError) -> RecordModel.Subscription {
        RecordModel.Subscription(
            id: self.subscriptionID,
            kind: try self.kind(),
            info: self.notificationInfo?.model
        )
    }

    /// Makes the subscription that a server has.
    static func made(of subscription: RecordModel.Subscription) -> CKSubscription {
        let made: CKSubscription
        switch subscription.kind {
        case .query(let recordType, let predicate, let zone, let firesOn):
            let query = CKQuerySubscription(
                recordType: recordType,
                predicate: .made(of: predicate),
                subscriptionID: subscription.id,
                options: CKQuerySubscription.Options(rawValue: UInt(firesOn.rawValue))
            )
            query.zoneID = zone.map { CKRecordZone.ID($0) }
            made = query
        case .zone(let zone, let recordType):
            let zone = CKRecordZoneSubscription(
                zoneID: CKRecordZone.ID(zone),
                subscriptionID: subscription.id
            )
            zone.recordType = recordType
            made = zone
        case .database(let recordType):
            let database = CKDatabaseSubscription(subscriptionID: subscription.id)
            database.recordType = recordType
            made = database
        }
        made.notificationInfo = subscription.info.map { CKNotificationInfo($0) }
        return made
    }
}

extension ArchivedBody {
    /// Whether it is that of a subscription of a kind.
    func isSubscription(_ type: CKSubscription.SubscriptionType) -> Bool {
        self.integer("subscriptionType") == Int64(type.rawValue)
    }
}
