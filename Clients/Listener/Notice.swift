import CloudKit

/// A notification, as a line of output.
struct Notice {
    enum Subject {
        /// A change of a record, and the values that came with it.
        case record(CKRecord.ID, String, [String: JSONValue])
        /// A change of records that match a query.
        case records
        case zone(CKRecordZone.ID?)
        case database
    }

    let subject: Subject
    /// The database of the change.
    let scope: CKDatabase.Scope
    let container: String?
    /// `nil` if there is no subscription.
    let subscription: String?
    let receivedAt: Date
    /// `nil` if the installation did not listen at that time, or if it is not known.
    let committedAt: Date?
    var alert: String?
    var isCoalesced = false
    var isPruned = false

    init(_ notification: CKNotification, receivedAt: Date) {
        switch notification {
        case let query as CKQueryNotification:
            self.scope = query.databaseScope
            let fields = (query.recordFields ?? [:]).mapValues { JSONValue(field: $0) }
            let reason = query.queryNotificationReason.text
            self.subject = query.recordID.map { .record($0, reason, fields) } ?? .records
        case let zone as CKRecordZoneNotification:
            self.scope = zone.databaseScope
            self.subject = .zone(zone.recordZoneID)
        case let database as CKDatabaseNotification:
            self.scope = database.databaseScope
            self.subject = .database
        default:
            self.scope = .private
            self.subject = .database
        }
        self.container = notification.containerIdentifier
        self.subscription = notification.subscriptionID
        self.receivedAt = receivedAt
        self.committedAt = notification.commitDate
        self.alert = notification.alertBody
        self.isCoalesced = notification.isCoalesced
        self.isPruned = notification.isPruned
    }

    /// Makes the notice that a server would have sent for a change that was found; `nil` if it
    /// sends none for such a change.
    init?(_ change: ChangeLine, in scope: CKDatabase.Scope, of container: String, foundAt: Date) {
        switch change {
        case .saved(let record):
            let isNew = record.creationDate == record.modificationDate
            self.subject = .record(record.recordID, isNew ? "created" : "changed", [:])
            self.committedAt = record.modificationDate
        case .deleted(let id, _):
            self.subject = .record(id, "deleted", [:])
            self.committedAt = nil
        case .left, .zoneChanged, .zoneDeleted: return nil
        }
        self.scope = scope
        self.container = container
        self.subscription = nil
        self.receivedAt = foundAt
    }

    /// The zone of the change; `nil` if it may be anywhere in the database.
    var zone: CKRecordZone.ID? {
        switch self.subject {
        case .record(let id, _, _): id.zoneID
        case .zone(let zone): zone
        case .records, .database: nil
        }
    }

    var json: String {
        var parts: [String: JSONValue] = [
            "database": .text(self.scope.text), "received": .text(self.receivedAt.text),
        ]
        parts["subscription"] = self.subscription.map { .text($0) }
        parts["container"] = self.container.map { .text($0) }
        parts["committed"] = self.committedAt.map { .text($0.text) }
        parts["latencyMilliseconds"] = self.latencyMilliseconds.map { .integer($0) }
        parts["alert"] = self.alert.map { .text($0) }
        if self.isCoalesced { parts["coalesced"] = .flag(true) }
        if self.isPruned { parts["pruned"] = .flag(true) }
        switch self.subject {
        case .record(let id, let reason, let fields):
            parts["notification"] = .text("query")
            parts["zone"] = .text(id.zoneID.zoneName)
            parts["record"] = .text(id.recordName)
            parts["reason"] = .text(reason)
            if !fields.isEmpty { parts["fields"] = .object(fields) }
        case .records: parts["notification"] = .text("query")
        case .zone(let zone):
            parts["notification"] = .text("zone")
            parts["zone"] = zone.map { .text($0.zoneName) }
        case .database: parts["notification"] = .text("database")
        }
        return JSONValue.object(parts).line
    }

    var text: String {
        let what =
            switch self.subject {
            case .record(let id, let reason, let fields):
                "record \(id.recordName) in \(id.zoneID.zoneName) \(reason)\(fields.text)"
            case .records: "records changed"
            case .zone(let zone): "zone \(zone?.zoneName ?? "?") changed"
            case .database: "database changed"
            }
        let alert = self.alert.map { " \(JSONValue.text($0).line)" } ?? ""
        var text = "\(self.receivedAt.text) \(what) (\(self.scope.text))\(alert)"
        if let latencyMilliseconds {
            text += ", \(latencyMilliseconds) ms after the commit"
        } else if self.subscription != nil {
            text += ", while nobody listened"
        }
        if self.isCoalesced { text += ", others left out" }
        return text + (self.subscription.map { " [\($0)]" } ?? "")
    }

    /// Whole milliseconds from the commit, by the server's clock, until now, by this machine's.
    private var latencyMilliseconds: Int64? {
        self.committedAt.map { date in
            Int64((self.receivedAt.timeIntervalSince(date) * 1_000).rounded(.down))
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
