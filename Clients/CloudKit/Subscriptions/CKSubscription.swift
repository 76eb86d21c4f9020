public import Foundation
import RecordModel

/// The changes that a user wants to be notified of: a `CKQuerySubscription`, a
/// `CKRecordZoneSubscription` or a `CKDatabaseSubscription`.
///
/// ```swift
/// try await database.save(CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "notes"))
/// ```
///
/// It belongs to the user who saves it, in the database where it is saved. Saving another one under
/// the same ID replaces it. `CKContainer.notifications()` delivers the notifications. Instances are
/// not synchronised: use one from one task at a time.
///
/// - Source: Apple's `CKSubscription`.
open class CKSubscription: NSObject, NSSecureCoding, NSCopying {
    /// The ID of a subscription among the user's in a database: 1 to 255 printable ASCII
    /// characters.
    public typealias ID = String
    /// What notifications contain besides the change.
    public typealias NotificationInfo = CKNotificationInfo

    /// The kind of the subscription.
    public enum SubscriptionType: Int, Sendable {
        /// Records of a type that match a predicate.
        case query = 1
        /// The records of a zone.
        case recordZone = 2
        /// All custom zones of a database.
        case database = 3
    }

    /// The ID of the subscription.
    public var subscriptionID: CKSubscription.ID { self.storedID }

    /// The kind of the subscription.
    open var subscriptionType: SubscriptionType {
        preconditionFailure(
            "\(Self.self) is not a subscription: use a subclass of CKSubscription"
        )
    }

    /// What notifications contain besides the change; `nil` if nothing.
    @NSCopying open var notificationInfo: CKSubscription.NotificationInfo?

    private let storedID: CKSubscription.ID

    init(storing subscriptionID: CKSubscription.ID) {
        self.storedID = subscriptionID
        super.init()
    }

    /// Reads the properties of every subscription; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let id = body.text("subscriptionID") else { return nil }
        self.storedID = id
        self.notificationInfo = body.bytes("info").flatMap { ArchivedBody($0) }.map { CKNotificationInfo($0) }
        super.init()
    }

    /// Writes the subscription into an archive; equal contents give equal bytes.
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

    /// The archived parts of the definition.
    var ownParts: [Field] { [] }

    /// Always `true`: subscriptions can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent subscription with the same content.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = self.bareCopy()
        copy.notificationInfo = self.notificationInfo
        return copy
    }

    /// Makes a copy without notification info.
    func bareCopy() -> CKSubscription {
        preconditionFailure(
            "\(Self.self) is not a subscription: use a subclass of CKSubscription"
        )
    }

    /// Returns the definition in the form for the server.
    ///
    /// - Throws: `CKError.Code.invalidArguments` if there is none that a server accepts.
    func kind() throws(CKError) -> RecordModel.Subscription.Kind {
        throw .local(.invalidArguments, "A subscription is about a query, a zone or a database")
    }

    /// Returns whether both have the same definition: a server accepts only one of them, whatever
    /// their IDs and notification infos.
    package func isAboutTheSame(as other: CKSubscription) -> Bool {
        guard let own = try? self.kind(), let others = try? other.kind() else { return false }
        return own == others
    }

    /// Returns whether an object is a subscription with the same ID, definition and notification
    /// info.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription, other.subscriptionID == self.subscriptionID,
            other.subscriptionType == self.subscriptionType,
            other.notificationInfo == self.notificationInfo
        else { return false }
        return RecordBody(other.ownParts) == RecordBody(self.ownParts)
    }

    /// The hash of the ID, which never changes.
    open override var hash: Int { self.storedID.hashValue }

    /// A description of the subscription for people.
    open override var description: String { "<\(Self.self): subscriptionID=\(self.storedID)>" }
}

// SAFETY: as in Apple's class, callers must not change an instance from two threads at once.
extension CKSubscription: @unchecked Sendable {}

extension CKSubscription {
    /// Returns the subscription in the form for the server.
    ///
    /// - Throws: `CKError.Code.invalidArguments` if there is none that a server accepts.
    func model() throws(CKError) -> RecordModel.Subscription {
        RecordModel.Subscription(
            id: self.subscriptionID,
            kind: try self.kind(),
            info: self.notificationInfo?.model
        )
    }

    /// Makes a subscription from the server's.
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
    /// Returns whether the body is that of a subscription of a kind.
    func isSubscription(_ type: CKSubscription.SubscriptionType) -> Bool {
        self.integer("subscriptionType") == Int64(type.rawValue)
    }
}
