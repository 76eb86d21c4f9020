import RecordModel
import RecordStore
import WireProtocol

/// The content of a notification, cut to its limit.
///
/// Everything but values of the record is bounded well below the limit of a notification. Values
/// are taken while there is room: first those that stand in the lists of `info`, then those of the
/// desired keys; a value that does not fit stays out.
///
/// - Source: `Protocol/README.md`, section 5.11.
struct NotificationContent {
    private var notification: Notification
    private var roomBytes: Int

    /// - Parameters:
    ///   - subject: The subscription that fires.
    ///   - event: What happened, without the values of desired keys.
    ///   - values: Of the record that it happened to: after it, or when it was deleted before it.
    ///   - committedMilliseconds: The time of the commit, since 1970.
    init(
        of subject: ListenedSubscription,
        event: Notification.Event,
        values: RecordBody?,
        committedMilliseconds: Int64
    ) {
        var notification = Notification(
            number: 0,
            subscriptionID: subject.subscription.id,
            scope: subject.scope,
            event: event,
            owner: subject.key.owner,
            info: subject.subscription.info,
            committedMilliseconds: committedMilliseconds
        )
        for list in Self.lists {
            let count = notification.info?[keyPath: list].count ?? 0
            notification.info?[keyPath: list] = Array(repeating: "", count: count)
        }
        self.notification = notification
        self.roomBytes = Bounds.notificationBytesMax - SharedNotification.listenerBytesMax
        guard let values, let info = subject.subscription.info, info.mentionsFields else { return }
        self.roomBytes -= SharedNotification(notification).count + Self.growthBytesMax
        self.fill(with: values, as: info)
    }

    var encoded: SharedNotification { SharedNotification(self.notification) }

    /// What lengths grow by, of `info`, of `fields`, and the mark that something was left out.
    private static let growthBytesMax = 8
    /// Tag and length of a value in a list grow by this from an empty one.
    private static let elementGrowthBytesMax = 2

    // Immutable and made of literals.
    private static var lists: [WritableKeyPath<NotificationInfo, [String]>] {
        [\.alertLocalizationArgs, \.titleLocalizationArgs, \.subtitleLocalizationArgs]
    }

    private mutating func fill(with values: RecordBody, as info: NotificationInfo) {
        let slices = values.slices
        func slice(of field: String) -> FieldSlice? {
            slices.first { values.bytes[$0.name].elementsEqual(field.utf8) }
        }
        for list in Self.lists {
            for (place, field) in info[keyPath: list].enumerated() {
                guard let slice = slice(of: field) else { continue }
                guard slice.value.count <= self.roomBytes else {
                    self.notification.isPruned = true
                    continue
                }
                let text = NotificationText.text(of: slice, in: values)
                guard self.take(text.isEmpty ? 0 : text.utf8.count + Self.elementGrowthBytesMax) else {
                    continue
                }
                self.notification.info?[keyPath: list][place] = text
            }
        }
        guard case .query(var change?) = self.notification.event, change.reason != .recordDeleted else {
            return
        }
        let keys = Set(info.desiredKeys)
        var kept: [UInt8] = []
        // A push may be read on its way or in a log, and must not show what the user has encrypted.
        for slice in slices where !slice.isEncrypted && keys.contains(values.name(of: slice)) {
            if self.take(slice.entry.count) { kept += values.bytes[slice.entry] }
        }
        change.fields = RecordBody(trusted: kept)
        self.notification.event = .query(change)
    }

    /// Uses room for a value; `false`: it does not fit, and the notification says so.
    private mutating func take(_ bytes: Int) -> Bool {
        guard bytes <= self.roomBytes else {
            self.notification.isPruned = true
            return false
        }
        self.roomBytes -= bytes
        return true
    }
}

extension NotificationInfo {
    /// Whether a notification needs the record's values at all.
    fileprivate var mentionsFields: Bool { self.hasFieldsInTexts || !self.desiredKeys.isEmpty }

    /// Whether values of the record stand in its texts.
    var hasFieldsInTexts: Bool {
        !self.alertLocalizationArgs.isEmpty || !self.titleLocalizationArgs.isEmpty
            || !self.subtitleLocalizationArgs.isEmpty
    }
}
