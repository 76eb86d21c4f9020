import CloudKit

/// A notification as a line.
struct Notice {
    let notification: CKNotification
    let receivedAt: Date

    var json: String {
        var parts: [String: JSONValue] = [
            "database": .text(self.scope.text),
            "subscription": .text(self.notification.subscriptionID ?? ""),
            "received": .text(self.receivedAt.text),
        ]
        parts["container"] = self.notification.containerIdentifier.map { .text($0) }
        parts["committed"] = self.notification.commitDate.map { .text($0.text) }
        parts["latencyMilliseconds"] = self.latencyMilliseconds.map { .integer($0) }
        parts["alert"] = self.notification.alertBody.map { .text($0) }
        if self.notification.isCoalesced { parts["coalesced"] = .flag(true) }
        if self.notification.isPruned { parts["pruned"] = .flag(true) }
        switch self.notification {
        case let query as CKQueryNotification:
            parts["notification"] = .text("query")
            guard let recordID = query.recordID else { break }
            parts["zone"] = .text(recordID.zoneID.zoneName)
            parts["record"] = .text(recordID.recordName)
            parts["reason"] = .text(query.queryNotificationReason.text)
            parts["fields"] = query.recordFields.map { .object($0.mapValues { JSONValue(field: $0) }) }
        case let zone as CKRecordZoneNotification:
            parts["notification"] = .text("zone")
            parts["zone"] = zone.recordZoneID.map { .text($0.zoneName) }
        default: parts["notification"] = .text("database")
        }
        return JSONValue.object(parts).line
    }

    var text: String {
        let what: String
        switch self.notification {
        case let query as CKQueryNotification:
            if let recordID = query.recordID {
                let fields = (query.recordFields ?? [:]).mapValues { JSONValue(field: $0) }
                what =
                    "record \(recordID.recordName) in \(recordID.zoneID.zoneName) \(query.queryNotificationReason.text)"
                    + fields.text
            } else {
                what = "records changed"
            }
        case let zone as CKRecordZoneNotification: what = "zone \(zone.recordZoneID?.zoneName ?? "?") changed"
        default: what = "database changed"
        }
        let alert = self.notification.alertBody.map { " \(JSONValue.text($0).line)" } ?? ""
        let when =
            self.latencyMilliseconds.map { "\($0) ms after the commit" } ?? "while nobody listened"
        let coalesced = self.notification.isCoalesced ? ", others left out" : ""
        return "\(self.receivedAt.text) \(what) (\(self.scope.text))\(alert), \(when)\(coalesced) "
            + "[\(self.notification.subscriptionID ?? "")]"
    }

    /// Whole milliseconds from the commit, by the server's clock, to here, by this machine's; `nil`: while nobody listened.
    var latencyMilliseconds: Int64? {
        self.notification.commitDate.map { date in
            Int64((self.receivedAt.timeIntervalSince(date) * 1_000).rounded(.down))
        }
    }

    /// The database that the notification is about.
    var scope: CKDatabase.Scope {
        switch self.notification {
        case let query as CKQueryNotification: query.databaseScope
        case let zone as CKRecordZoneNotification: zone.databaseScope
        case let database as CKDatabaseNotification: database.databaseScope
        default: .private
        }
    }
}

extension CKQueryNotification.Reason {
    fileprivate var text: String {
        switch self {
        case .recordCreated: "created"
        case .recordUpdated: "changed"
        case .recordDeleted: "deleted"
        @unknown default: "changed"
        }
    }
}
