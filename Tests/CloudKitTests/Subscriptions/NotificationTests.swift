import Foundation
import RecordModel
import Testing

@testable import CloudKit

private typealias Model = RecordModel.Notification

@Suite struct NotificationTests {
    private let zone = ZoneID(zoneName: "z", ownerName: "_them")

    private func notification(
        _ event: Model.Event,
        scope: RecordModel.DatabaseScope = .private,
        info: NotificationInfo? = nil
    ) -> Model {
        Model(
            number: 3,
            subscriptionID: "s",
            scope: scope,
            event: event,
            owner: "_me",
            info: info,
            committedMilliseconds: 1_500
        )
    }

    private func dictionary(_ model: Model) -> [AnyHashable: Any] {
        model.remoteDictionary(containerIdentifier: "iCloud.c", id: "n1")
    }

    @Test func `a query's says which record, why and its values`() throws {
        let change = Model.RecordChange(
            id: RecordID(zone: self.zone, recordName: "r"),
            reason: .recordCreated,
            fields: RecordBody([
                Field(name: "count", value: .int64(3)), Field(name: "title", value: .string("t")),
            ])
        )
        let made = try #require(
            CKNotification(
                fromRemoteNotificationDictionary: self.dictionary(
                    self.notification(.query(change), scope: .public)
                )
            )
        )
        let query = try #require(made as? CKQueryNotification)
        #expect(query.notificationType == .query)
        #expect(query.queryNotificationReason == .recordCreated)
        #expect(query.recordID?.recordName == "r")
        #expect(query.recordID?.zoneID == CKRecordZone.ID(zoneName: "z", ownerName: "_them"))
        #expect(query.databaseScope == .public)
        #expect(query.recordFields?["count"] as? Int == 3)
        #expect(query.recordFields?["title"] as? String == "t")
        #expect(query.subscriptionID == "s")
        #expect(query.containerIdentifier == "iCloud.c")
        #expect(query.subscriptionOwnerUserRecordID == CKRecord.ID(recordName: "_me"))
        #expect(query.notificationID == CKNotificationID("n1"))
        #expect(query.commitDate == Date(timeIntervalSince1970: 1.5))
        #expect(!query.isPruned)
        #expect(!query.isCoalesced)
    }

    @Test func `a deleted record has no values`() throws {
        let change = Model.RecordChange(
            id: RecordID(zone: .default, recordName: "r"),
            reason: .recordDeleted,
            fields: RecordBody([Field(name: "count", value: .int64(3))])
        )
        let query = try #require(
            CKQueryNotification(
                fromRemoteNotificationDictionary: self.dictionary(self.notification(.query(change)))
            )
        )
        #expect(query.queryNotificationReason == .recordDeleted)
        #expect(query.recordFields == nil)
        #expect(query.recordID?.zoneID.ownerName == CKCurrentUserDefaultName)
    }

    @Test func `a notification of changes without a listener is pruned`() throws {
        var model = self.notification(.query(nil))
        model.committedMilliseconds = 0
        let query = try #require(
            CKQueryNotification(fromRemoteNotificationDictionary: self.dictionary(model))
        )
        #expect(query.recordID == nil)
        #expect(query.queryNotificationReason == .recordUpdated)
        #expect(query.isPruned)
        #expect(query.commitDate == nil)
    }

    @Test func `a zone's says which zone`() throws {
        var model = self.notification(.zone(self.zone))
        model.isCoalesced = true
        let made = CKNotification(fromRemoteNotificationDictionary: self.dictionary(model))
        let zone = try #require(made as? CKRecordZoneNotification)
        #expect(zone.notificationType == .recordZone)
        #expect(zone.recordZoneID == CKRecordZone.ID(zoneName: "z", ownerName: "_them"))
        #expect(zone.databaseScope == .private)
        #expect(zone.isCoalesced)
    }

    @Test func `a database's says which database`() throws {
        var model = self.notification(.database)
        model.isPruned = true
        let made = CKNotification(fromRemoteNotificationDictionary: self.dictionary(model))
        let database = try #require(made as? CKDatabaseNotification)
        #expect(database.notificationType == .database)
        #expect(database.databaseScope == .private)
        #expect(database.isPruned)
    }

    @Test func `one of another class is not made`() {
        let dictionary = self.dictionary(self.notification(.database))
        #expect(CKDatabaseNotification(fromRemoteNotificationDictionary: dictionary) != nil)
        #expect(CKQueryNotification(fromRemoteNotificationDictionary: dictionary) == nil)
        #expect(CKRecordZoneNotification(fromRemoteNotificationDictionary: dictionary) == nil)
    }

    @Test func `what was shown is in it`() throws {
        var info = NotificationInfo()
        info.alertBody = "body"
        info.alertLocalizationKey = "key"
        info.alertLocalizationArgs = ["arg"]
        info.title = "title"
        info.titleLocalizationKey = "title key"
        info.titleLocalizationArgs = ["title arg"]
        info.subtitle = "subtitle"
        info.subtitleLocalizationKey = "subtitle key"
        info.subtitleLocalizationArgs = ["subtitle arg"]
        info.alertActionLocalizationKey = "action"
        info.alertLaunchImage = "image"
        info.soundName = "sound"
        info.category = "category"
        info.shouldBadge = true
        info.shouldSendContentAvailable = true
        info.shouldSendMutableContent = true
        let dictionary = self.dictionary(self.notification(.database, info: info))
        let made = try #require(CKNotification(fromRemoteNotificationDictionary: dictionary))
        let texts = [
            made.alertBody, made.alertLocalizationKey, made.title, made.titleLocalizationKey, made.subtitle,
            made.subtitleLocalizationKey, made.alertActionLocalizationKey, made.alertLaunchImage,
            made.soundName, made.category,
        ]
        #expect(
            texts == [
                "body", "key", "title", "title key", "subtitle", "subtitle key", "action", "image", "sound",
                "category",
            ]
        )
        #expect(made.alertLocalizationArgs == ["arg"])
        #expect(made.titleLocalizationArgs == ["title arg"])
        #expect(made.subtitleLocalizationArgs == ["subtitle arg"])
        #expect(made.badge == 1)
        let aps = dictionary["aps"] as? [String: Any]
        #expect(aps?["content-available"] as? Int == 1)
        #expect(aps?["mutable-content"] as? Int == 1)
        let bare = try #require(
            CKNotification(fromRemoteNotificationDictionary: self.dictionary(self.notification(.database)))
        )
        #expect(bare.alertBody == nil)
        #expect(bare.badge == nil)
    }

    @Test func `it survives JSON`() throws {
        let change = Model.RecordChange(
            id: RecordID(zone: self.zone, recordName: "r"),
            reason: .recordUpdated,
            fields: RecordBody([Field(name: "count", value: .int64(3))])
        )
        let dictionary = self.notification(.query(change))
            .remoteDictionary(containerIdentifier: "iCloud.c", id: "n1")
        let data = try JSONSerialization.data(withJSONObject: dictionary)
        let read = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let query = try #require(CKQueryNotification(fromRemoteNotificationDictionary: read))
        #expect(query.recordID?.recordName == "r")
        #expect(query.recordFields?["count"] as? Int == 3)
        #expect(query.commitDate == Date(timeIntervalSince1970: 1.5))
        #expect(query.databaseScope == .private)
    }

    @Test func `its dictionary makes the same notification again, of every kind`() throws {
        for model in Model.samples {
            let notification = try #require(
                CKNotification(fromRemoteNotificationDictionary: self.dictionary(model))
            )
            let dictionary = notification.remoteNotificationDictionary
            let again = try #require(CKNotification(fromRemoteNotificationDictionary: dictionary))
            #expect(again.says(the: notification), "\(model.event)")
            #expect(again.notificationType == notification.notificationType)
            #expect(dictionary["aps"] is [String: Any] && dictionary["ck"] is [String: Any])
        }
    }

    /// Dates, data, references, locations and their lists are not JSON.
    @Test func `its dictionary is JSON whatever its values are, and loses no field on the way`() throws {
        for model in Model.samples {
            let notification = try #require(
                CKNotification(fromRemoteNotificationDictionary: self.dictionary(model))
            )
            let dictionary = notification.remoteNotificationDictionary
            #expect(JSONSerialization.isValidJSONObject(dictionary), "\(model.event)")
            let data = try JSONSerialization.data(withJSONObject: dictionary)
            let read = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let again = try #require(CKNotification(fromRemoteNotificationDictionary: read))
            #expect(again.says(the: notification), "\(model.event)")
        }
    }

    @Test func `a dictionary of somebody else is JSON too, without what JSON can't represent`() throws {
        let fields: [String: Any] = [
            "when": Date(timeIntervalSinceReferenceDate: 1), "raw": Data([1]), "nan": Double.nan, "text": "a",
        ]
        let given: [AnyHashable: Any] = [
            "aps": ["alert": ["body": "b"]], "at": Date(), 7: "a key that is no text",
            "ck": ["qry": ["dbs": 2, "rid": "r", "af": fields, "more": [Double.infinity]]],
        ]
        let notification = try #require(CKQueryNotification(fromRemoteNotificationDictionary: given))
        let dictionary = notification.remoteNotificationDictionary
        #expect(JSONSerialization.isValidJSONObject(dictionary))
        #expect(dictionary["at"] == nil && dictionary["aps"] != nil)
        let again = try #require(CKQueryNotification(fromRemoteNotificationDictionary: dictionary))
        #expect(again.recordFields?["when"] as? Date == Date(timeIntervalSinceReferenceDate: 1))
        #expect(again.recordFields?["raw"] as? Data == Data([1]) && again.recordFields?["nan"] == nil)
        #expect(again.alertBody == "b")
    }

    @Test func `anything else is no notification`() {
        let others: [[AnyHashable: Any]] = [
            [:], ["aps": ["alert": "a"]], ["ck": "a"], ["ck": [String: Any]()], ["ck": ["met": "a"]],
            ["ck": ["met": ["sid": "s"]]], ["ck": ["met": ["dbs": 4]]], ["ck": ["other": ["dbs": 2]]],
        ]
        for other in others {
            #expect(CKNotification(fromRemoteNotificationDictionary: other) == nil, "\(other)")
        }
        #expect(CKNotification(fromRemoteNotificationDictionary: ["ck": ["met": ["dbs": 2]]]) != nil)
    }

    @Test func `an ID comes back from an archive`() throws {
        let id = CKNotification.ID("n1")
        let data = try NSKeyedArchiver.archivedData(withRootObject: id, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKNotificationID.self, from: data)
        #expect(read == id)
        #expect(read?.hash == id.hash)
        #expect(read != CKNotification.ID("n2"))
    }
}
