internal import Foundation
package import RecordModel

extension RecordModel.Notification {
    /// Returns the dictionary from which `CKNotification(fromRemoteNotificationDictionary:)` makes
    /// the notification.
    ///
    /// `NotificationContent` describes it.
    ///
    /// - Parameters:
    ///   - containerIdentifier: The container of the connection that it came on.
    ///   - id: The ID of the notification, which is unique.
    /// - Returns: Strings, numbers, arrays and dictionaries; among the fields of a record also
    ///   other values of fields.
    package func remoteDictionary(containerIdentifier: String, id: String) -> [String: Any] {
        var ck: [String: Any] = ["nid": id, "cid": containerIdentifier]
        if !self.owner.isEmpty { ck["ckuserid"] = self.owner }
        if self.isCoalesced { ck["co"] = 1 }
        if self.committedMilliseconds > 0 { ck["ts"] = Int(self.committedMilliseconds) }
        var isPruned = self.isPruned
        let event: [String: Any] = ["sid": self.subscriptionID, "dbs": Int(self.scope.rawValue)]
        switch self.event {
        case .query(let change):
            // The change itself is not part of it.
            if change == nil { isPruned = true }
            ck["qry"] = event.merging(change?.parts ?? [:]) { $1 }
        case .zone(let zone): ck["fet"] = event.merging(zone.parts) { $1 }
        case .database: ck["met"] = event
        }
        if isPruned { ck["p"] = 1 }
        return ["ck": ck, "aps": self.info?.aps ?? [:]]
    }
}

extension RecordModel.Notification.RecordChange {
    fileprivate var parts: [String: Any] {
        var parts = self.id.zone.parts
        parts["rid"] = self.id.recordName
        parts["fo"] = Int(self.reason.rawValue)
        guard self.reason != .recordDeleted else { return parts }
        let zoneID = CKRecordZone.ID(self.id.zone)
        var fields: [String: Any] = [:]
        for field in self.fields.fields { fields[field.name] = field.value.object(in: zoneID) }
        if !fields.isEmpty { parts["af"] = fields }
        return parts
    }
}

extension ZoneID {
    fileprivate var parts: [String: Any] {
        self.ownerName.isEmpty
            ? ["zid": self.zoneName] : ["zid": self.zoneName, "zoid": self.ownerName]
    }
}

extension NotificationInfo {
    /// What a device would show and do.
    fileprivate var aps: [String: Any] {
        let texts = [
            ("body", self.alertBody), ("loc-key", self.alertLocalizationKey), ("title", self.title),
            ("title-loc-key", self.titleLocalizationKey), ("subtitle", self.subtitle),
            ("subtitle-loc-key", self.subtitleLocalizationKey),
            ("action-loc-key", self.alertActionLocalizationKey), ("launch-image", self.alertLaunchImage),
        ]
        let lists = [
            ("loc-args", self.alertLocalizationArgs), ("title-loc-args", self.titleLocalizationArgs),
            ("subtitle-loc-args", self.subtitleLocalizationArgs),
        ]
        var alert: [String: Any] = [:]
        for (key, text) in texts where !text.isEmpty { alert[key] = text }
        for (key, list) in lists where !list.isEmpty { alert[key] = list }
        var aps: [String: Any] = [:]
        if !alert.isEmpty { aps["alert"] = alert }
        if !self.soundName.isEmpty { aps["sound"] = self.soundName }
        if !self.category.isEmpty { aps["category"] = self.category }
        if self.shouldBadge { aps["badge"] = 1 }
        if self.shouldSendContentAvailable { aps["content-available"] = 1 }
        if self.shouldSendMutableContent { aps["mutable-content"] = 1 }
        return aps
    }
}
