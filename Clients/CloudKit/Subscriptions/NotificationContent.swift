import Foundation
import RecordModel

/// The contents of a notification's dictionary.
///
/// ```text
/// aps: alert {body, title, loc-key, loc-args, ...}, badge, sound, category, content-available,
///      mutable-content
/// ck:  nid    the notification's ID
///      cid    container
///      ckuserid  the subscription's owner
///      p      pruned, co  coalesced, ts  milliseconds since 1970: absent for no
///      qry    {sid, dbs, rid, zid, zoid, fo, af, afb}    a query; fo is the reason, af the fields;
///                                                 afb all fields as an encoded body in Base64, if
///                                                 JSON can't represent one of them
///      fet    {sid, dbs, zid, zoid}                 a zone
///      met    {sid, dbs}                            a database
/// ```
// SAFETY: immutable, and the contents of its dictionaries never change.
struct NotificationContent: @unchecked Sendable {
    /// The keys of the three kinds within `ck`.
    static let kinds: [(key: String, type: CKNotification.NotificationType)] = [
        ("qry", .query), ("fet", .recordZone), ("met", .database),
    ]

    let type: CKNotification.NotificationType
    let id: CKNotification.ID?
    let container: String?
    let owner: CKRecord.ID?
    let isPruned: Bool
    let isCoalesced: Bool
    let commitDate: Date?
    let subscriptionID: CKSubscription.ID?
    let scope: CKDatabase.Scope
    let zoneID: CKRecordZone.ID?
    let recordID: CKRecord.ID?
    let reason: CKQueryNotification.Reason?
    let fields: [String: Any]?
    let aps: [String: Any]
    /// The whole dictionary, as it came.
    let dictionary: [AnyHashable: Any]

    /// Reads a dictionary; `nil` if it is not one of a notification.
    init?(_ dictionary: [AnyHashable: Any]) {
        guard let ck = dictionary["ck"] as? [AnyHashable: Any] else { return nil }
        let found = Self.kinds.lazy.compactMap { kind in
            (ck[kind.key] as? [AnyHashable: Any]).map { (kind.type, $0) }
        }.first
        guard let (type, event) = found,
            let scope = Self.integer(event["dbs"]).flatMap({ CKDatabase.Scope(rawValue: $0) })
        else { return nil }
        self.type = type
        self.scope = scope
        self.id = (ck["nid"] as? String).map { CKNotificationID($0) }
        self.container = ck["cid"] as? String
        self.owner = (ck["ckuserid"] as? String).map { CKRecord.ID(recordName: $0) }
        self.isPruned = Self.integer(ck["p"]) == 1
        self.isCoalesced = Self.integer(ck["co"]) == 1
        self.commitDate = Self.integer(ck["ts"]).map { Date(milliseconds: Int64($0)) }
        self.subscriptionID = event["sid"] as? String
        let zoneID = (event["zid"] as? String).map {
            CKRecordZone.ID(zoneName: $0, ownerName: event["zoid"] as? String ?? CKCurrentUserDefaultName)
        }
        self.zoneID = zoneID
        self.recordID = (event["rid"] as? String).map {
            CKRecord.ID(recordName: $0, zoneID: zoneID ?? .default)
        }
        self.reason = Self.integer(event["fo"]).flatMap { CKQueryNotification.Reason(rawValue: $0) }
        self.fields =
            Self.exactFields(event[Self.bodyKey], in: zoneID ?? .default) ?? event["af"] as? [String: Any]
        self.aps = dictionary["aps"] as? [String: Any] ?? [:]
        self.dictionary = dictionary
    }

    /// Returns the value of an alert under a key.
    func alert<Value>(_ key: String) -> Value? { (self.aps["alert"] as? [String: Any])?[key] as? Value }

    /// The notification, in the class of its kind.
    var notification: CKNotification {
        switch self.type {
        case .query: CKQueryNotification(self)
        case .recordZone: CKRecordZoneNotification(self)
        case .database: CKDatabaseNotification(self)
        case .readNotification: CKNotification(self)
        }
    }

    /// Dictionaries that went through JSON have Foundation's numbers, others Swift's.
    private static func integer(_ value: Any?) -> Int? { value as? Int ?? (value as? NSNumber)?.intValue }
}
