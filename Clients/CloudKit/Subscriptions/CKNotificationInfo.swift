public import Foundation
import RecordModel

/// The contents of the notifications of a subscription, besides the change.
///
/// Instances are not synchronised: use one from one task at a time.
///
/// - Source: Apple's `CKNotificationInfo`.
open class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying {
    /// The text of an alert.
    open var alertBody: String?
    /// The key of a localized text of an alert.
    open var alertLocalizationKey: String?
    /// Names of fields with values for the localized text; at most 20 in each such list.
    public var alertLocalizationArgs: [CKRecord.FieldKey]?
    /// The title of an alert.
    open var title: String?
    /// The key of a localized title.
    open var titleLocalizationKey: String?
    /// Names of fields with values for the localized title.
    public var titleLocalizationArgs: [CKRecord.FieldKey]?
    /// The subtitle of an alert.
    open var subtitle: String?
    /// The key of a localized subtitle.
    open var subtitleLocalizationKey: String?
    /// Names of fields with values for the localized subtitle.
    public var subtitleLocalizationArgs: [CKRecord.FieldKey]?
    /// The key of a localized text for the button of an alert.
    open var alertActionLocalizationKey: String?
    /// The name of an image for the launch of an app.
    open var alertLaunchImage: String?
    /// The name of a sound.
    open var soundName: String?
    /// Names of fields with values that a query's notification has; at most 3.
    public var desiredKeys: [CKRecord.FieldKey]?
    /// Whether a badge shows that there is something new.
    open var shouldBadge = false
    /// Whether the app is woken to fetch.
    open var shouldSendContentAvailable = false
    /// Whether the app may change the notification before it is shown.
    open var shouldSendMutableContent = false
    /// The name of a category of notifications.
    open var category: String?
    /// The name of a field: a notification with its value replaces an earlier one.
    open var collapseIDKey: String?

    /// Makes an empty info.
    public override init() { super.init() }

    /// Makes an info; see the properties for the meaning of each value.
    ///
    /// - Parameters:
    ///   - alertBody: The text of an alert.
    ///   - alertLocalizationKey: The key of a localized text.
    ///   - alertLocalizationArgs: Fields of the localized text; at most 20.
    ///   - title: The title.
    ///   - titleLocalizationKey: The key of a localized title.
    ///   - titleLocalizationArgs: Fields of the localized title; at most 20.
    ///   - subtitle: The subtitle.
    ///   - subtitleLocalizationKey: The key of a localized subtitle.
    ///   - subtitleLocalizationArgs: Fields of the localized subtitle; at most 20.
    ///   - alertActionLocalizationKey: The key of the text of a button.
    ///   - alertLaunchImage: The name of an image.
    ///   - soundName: The name of a sound.
    ///   - desiredKeys: Fields that a query's notification has; at most 3.
    ///   - shouldBadge: Whether a badge shows that there is something new.
    ///   - shouldSendContentAvailable: Whether the app is woken to fetch.
    ///   - shouldSendMutableContent: Whether the app may change the notification.
    ///   - category: The name of a category.
    ///   - collapseIDKey: A field; a notification with its value replaces an earlier one.
    public convenience init(
        alertBody: String? = nil,
        alertLocalizationKey: String? = nil,
        alertLocalizationArgs: [CKRecord.FieldKey] = [],
        title: String? = nil,
        titleLocalizationKey: String? = nil,
        titleLocalizationArgs: [CKRecord.FieldKey] = [],
        subtitle: String? = nil,
        subtitleLocalizationKey: String? = nil,
        subtitleLocalizationArgs: [CKRecord.FieldKey] = [],
        alertActionLocalizationKey: String? = nil,
        alertLaunchImage: String? = nil,
        soundName: String? = nil,
        desiredKeys: [CKRecord.FieldKey] = [],
        shouldBadge: Bool = false,
        shouldSendContentAvailable: Bool = false,
        shouldSendMutableContent: Bool = false,
        category: String? = nil,
        collapseIDKey: String? = nil
    ) {
        self.init()
        self.alertBody = alertBody
        self.alertLocalizationKey = alertLocalizationKey
        self.alertLocalizationArgs = alertLocalizationArgs
        self.title = title
        self.titleLocalizationKey = titleLocalizationKey
        self.titleLocalizationArgs = titleLocalizationArgs
        self.subtitle = subtitle
        self.subtitleLocalizationKey = subtitleLocalizationKey
        self.subtitleLocalizationArgs = subtitleLocalizationArgs
        self.alertActionLocalizationKey = alertActionLocalizationKey
        self.alertLaunchImage = alertLaunchImage
        self.soundName = soundName
        self.desiredKeys = desiredKeys
        self.shouldBadge = shouldBadge
        self.shouldSendContentAvailable = shouldSendContentAvailable
        self.shouldSendMutableContent = shouldSendMutableContent
        self.category = category
        self.collapseIDKey = collapseIDKey
    }

    /// Reads an archived info; `nil` if the archive has none.
    public required convenience init?(coder: NSCoder) {
        guard let body = coder.archivedBody() else { return nil }
        self.init(body)
    }

    /// Writes the info into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) { coder.encodeBody(self.parts) }

    /// Always `true`: infos can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent info with the same content.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKNotificationInfo()
        for (_, text) in Self.texts { copy[keyPath: text] = self[keyPath: text] }
        for (_, list) in Self.lists { copy[keyPath: list] = self[keyPath: list] }
        for (_, flag) in Self.flags { copy[keyPath: flag] = self[keyPath: flag] }
        return copy
    }

    /// Returns whether an object is an info with the same content; an empty text or list counts as
    /// `nil`.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKNotificationInfo)?.model == self.model
    }

    /// The hash of the content.
    open override var hash: Int { self.model.hashValue }
}

// SAFETY: as in Apple's class, callers must not change an instance from two threads at once.
extension CKNotificationInfo: @unchecked Sendable {}
