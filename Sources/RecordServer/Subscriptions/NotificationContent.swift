import RecordModel
import StorageContract
import WireProtocol

/// The content of a notification, cut to its limit.
///
/// Everything except record values is bounded well below the limit. Values are added while there is
/// room: first those in the lists of `info`, then those of the desired keys; a value that does not
/// fit is left out.
///
/// - Source: `Protocol/README.md`, section 5.11.
struct NotificationContent {
    private var notification: Notification
    private var roomBytes: Int

    /// - Parameters:
    ///   - subject: The subscription that fires.
    ///   - event: The event, without the values of desired keys.
    ///   - values: Of the record: after the change, or before its deletion.
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

    /// Growth of the length prefixes of `info` and of `fields`, and the mark that values were left
    /// out.
    private static let growthBytesMax = 8
    /// Growth of tag and length of a list element, from an empty one.
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
            for (index, field) in info[keyPath: list].enumerated() {
                guard let slice = slice(of: field) else { continue }
                guard slice.value.count <= self.roomBytes else {
                    self.notification.isPruned = true
                    continue
                }
                let text = NotificationText.text(of: slice, in: values)
                guard self.take(text.isEmpty ? 0 : text.utf8.count + Self.elementGrowthBytesMax) else {
                    continue
                }
                self.notification.info?[keyPath: list][index] = text
            }
        }
        guard case .query(var change?) = self.notification.event, change.reason != .recordDeleted else {
            return
        }
        let keys = Set(info.desiredKeys)
        var kept: [UInt8] = []
        // A push may be read in transit or in a log, and must not reveal fields that the user has
        // encrypted.
        for slice in slices where !slice.isEncrypted && keys.contains(values.name(of: slice)) {
            if self.take(slice.entry.count) { kept += values.bytes[slice.entry] }
        }
        change.fields = RecordBody(trusted: kept)
        self.notification.event = .query(change)
    }

    /// Uses room for a value; `false` if it does not fit, which the notification then says.
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
    /// Whether the notification needs the record's values at all.
    fileprivate var mentionsFields: Bool { self.hasFieldsInTexts || !self.desiredKeys.isEmpty }

    /// Whether its texts contain values of the record.
    var hasFieldsInTexts: Bool {
        !self.alertLocalizationArgs.isEmpty || !self.titleLocalizationArgs.isEmpty
            || !self.subtitleLocalizationArgs.isEmpty
    }
}
