public import Foundation

/// A notification of a change that a subscription is about.
///
/// `CKNotification(fromRemoteNotificationDictionary:)` makes an instance of one of the subclasses.
///
/// - Source: Apple's `CKNotification`.
open class CKNotification: NSObject, NSSecureCoding {
    /// The ID of a notification.
    public typealias ID = CKNotificationID

    /// The kind of a notification.
    public enum NotificationType: Int, Sendable {
        /// A change of a record that a query's subscription is about: `CKQueryNotification`.
        case query = 1
        /// A change in a zone: `CKRecordZoneNotification`.
        case recordZone = 2
        /// Never sent: notifications are not marked as read.
        case readNotification = 3
        /// A change in a database: `CKDatabaseNotification`.
        case database = 4
    }

    /// The kind of the notification.
    open var notificationType: NotificationType { self.content.type }

    /// The ID of the notification.
    open var notificationID: CKNotification.ID? { self.content.id }

    /// The container of the change.
    open var containerIdentifier: String? { self.content.container }

    /// The owner of the subscription.
    open var subscriptionOwnerUserRecordID: CKRecord.ID? { self.content.owner }

    /// Whether details are missing: values that would have made it too large, or, of a query,
    /// changes while the installation did not listen.
    open var isPruned: Bool { self.content.isPruned }

    /// The ID of the subscription.
    public var subscriptionID: CKSubscription.ID? { self.content.subscriptionID }

    /// Whether earlier notifications of the subscription were left out.
    ///
    /// Beyond CloudKit.
    public var isCoalesced: Bool { self.content.isCoalesced }

    /// The time of the commit, by the server's clock; `nil` if the installation did not listen.
    ///
    /// Beyond CloudKit.
    public var commitDate: Date? { self.content.commitDate }

    /// The dictionary that an app delegate gets for the notification on Apple's systems.
    ///
    /// Beyond CloudKit. `CKNotification(fromRemoteNotificationDictionary:)` makes the same
    /// notification of it, also after it was written as JSON and read again: it is a valid JSON
    /// object, whatever the fields of the record are. Of a dictionary from elsewhere, what
    /// JSON can't represent is left out. So code that was written for such a delegate can handle it:
    ///
    /// ```swift
    /// for await notification in container.notifications() {
    ///     handler.didReceiveRemoteNotification(notification.remoteNotificationDictionary)
    /// }
    /// ```
    public var remoteNotificationDictionary: [AnyHashable: Any] { self.content.jsonDictionary }

    let content: NotificationContent

    init(_ content: NotificationContent) {
        self.content = content
        super.init()
    }

    /// Reads an archived notification; `nil` if the archive has none of this class.
    public required init?(coder: NSCoder) {
        guard let content = coder.archivedBody().flatMap({ NotificationContent($0) }),
            content.notification is Self
        else { return nil }
        self.content = content
        super.init()
    }

    /// Writes the notification into an archive.
    open func encode(with coder: NSCoder) { coder.encodeBody(self.content.archiveParts) }

    /// Always `true`: notifications can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// A description of the notification for people.
    open override var description: String {
        "<\(Self.self): subscriptionID=\(self.subscriptionID ?? "nil"), "
            + "containerIdentifier=\(self.containerIdentifier ?? "nil")>"
    }
}

// SAFETY: every stored property is a constant value.
extension CKNotification: @unchecked Sendable {}

/// The texts and settings of a notification; deprecated by Apple.
extension CKNotification {
    /// The text of an alert.
    public var alertBody: String? { self.content.alert("body") }
    /// The key of a localized text.
    public var alertLocalizationKey: String? { self.content.alert("loc-key") }
    /// The values for the localized text.
    public var alertLocalizationArgs: [String]? { self.content.alert("loc-args") }
    /// The key of a localized text for the button.
    public var alertActionLocalizationKey: String? { self.content.alert("action-loc-key") }
    /// The name of an image for the launch of an app.
    public var alertLaunchImage: String? { self.content.alert("launch-image") }
    /// The title.
    public var title: String? { self.content.alert("title") }
    /// The key of a localized title.
    public var titleLocalizationKey: String? { self.content.alert("title-loc-key") }
    /// The values for the localized title.
    public var titleLocalizationArgs: [String]? { self.content.alert("title-loc-args") }
    /// The subtitle.
    public var subtitle: String? { self.content.alert("subtitle") }
    /// The key of a localized subtitle.
    public var subtitleLocalizationKey: String? { self.content.alert("subtitle-loc-key") }
    /// The values for the localized subtitle.
    public var subtitleLocalizationArgs: [String]? { self.content.alert("subtitle-loc-args") }
    /// The number on a badge: 1 if the subscription asks for a badge.
    public var badge: NSNumber? { self.content.aps["badge"] as? NSNumber }
    /// The name of a sound.
    public var soundName: String? { self.content.aps["sound"] as? String }
    /// The name of a category.
    public var category: String? { self.content.aps["category"] as? String }
}

/// A notification of a change of a record that a query's subscription is about.
///
/// - Source: Apple's `CKQueryNotification`.
// SAFETY: see `CKNotification`.
open class CKQueryNotification: CKNotification, @unchecked Sendable {
    /// What happened to the record.
    public enum Reason: Int, Sendable {
        /// The record was created.
        case recordCreated = 1
        /// The record was changed.
        case recordUpdated = 2
        /// The record was deleted.
        case recordDeleted = 3
    }

    /// The change of the record; `recordUpdated` if that is not known.
    open var queryNotificationReason: Reason { self.content.reason ?? .recordUpdated }

    /// The values of the subscription's desired keys, for a record that was created or changed.
    open var recordFields: [String: Any]? { self.content.fields }

    /// The ID of the record; `nil` if the change happened while the installation did not listen.
    open var recordID: CKRecord.ID? { self.content.recordID }

    /// The database of the record.
    open var databaseScope: CKDatabase.Scope { self.content.scope }
}

/// A notification of a change in a zone.
///
/// - Source: Apple's `CKRecordZoneNotification`.
// SAFETY: see `CKNotification`.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    /// The zone.
    open var recordZoneID: CKRecordZone.ID? { self.content.zoneID }

    /// The database of the zone.
    open var databaseScope: CKDatabase.Scope { self.content.scope }
}

/// A notification of a change in a database.
///
/// - Source: Apple's `CKDatabaseNotification`.
// SAFETY: see `CKNotification`.
open class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    /// The database.
    open var databaseScope: CKDatabase.Scope { self.content.scope }
}

/// Gives `CKNotification` the initialiser that makes one of its subclasses.
///
/// Not to be used from outside. An initialiser of a protocol may assign `self`; one of a class
/// could not.
public protocol _CKNotificationFactory {}

extension CKNotification: _CKNotificationFactory {}

extension _CKNotificationFactory {
    /// Reads the dictionary of a notification; `nil` if it is not one of CloudKit, or not of the
    /// requested class.
    ///
    /// - Parameter notificationDictionary: A `remoteNotificationDictionary`, also after it was
    ///   JSON.
    public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
        guard let content = NotificationContent(notificationDictionary),
            let notification = content.notification as? Self
        else { return nil }
        self = notification
    }
}
