import Foundation
import RecordModel
import Testing

@testable import CloudKit

private typealias Model = RecordModel.Subscription

/// One of each kind, with everything set that can be.
private func samples() -> [CKSubscription] {
    let query = CKQuerySubscription(
        recordType: "Note",
        predicate: NSPredicate(format: "title BEGINSWITH %@ AND count > %d", "a", 3),
        subscriptionID: "query",
        options: [.firesOnRecordCreation, .firesOnce]
    )
    query.zoneID = CKRecordZone.ID(zoneName: "z", ownerName: "_them")
    let zone = CKRecordZoneSubscription(
        zoneID: CKRecordZone.ID(zoneName: "z", ownerName: "_them"),
        subscriptionID: "zone"
    )
    zone.recordType = "Note"
    let database = CKDatabaseSubscription(subscriptionID: "database")
    database.recordType = "Note"
    for subscription in [query, zone, database] { subscription.notificationInfo = fullInfo() }
    return [query, zone, database, CKDatabaseSubscription(subscriptionID: "bare")]
}

/// Every property has a value of its own.
private func fullInfo() -> CKSubscription.NotificationInfo {
    CKSubscription.NotificationInfo(
        alertBody: "1",
        alertLocalizationKey: "2",
        alertLocalizationArgs: ["3"],
        title: "4",
        titleLocalizationKey: "5",
        titleLocalizationArgs: ["6", "6b"],
        subtitle: "7",
        subtitleLocalizationKey: "8",
        subtitleLocalizationArgs: ["9"],
        alertActionLocalizationKey: "10",
        alertLaunchImage: "11",
        soundName: "12",
        desiredKeys: ["13"],
        shouldBadge: true,
        shouldSendContentAvailable: true,
        shouldSendMutableContent: true,
        category: "14",
        collapseIDKey: "15"
    )
}

private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
}

@Suite struct SubscriptionTests {
    @Test func `each kind comes back from an archive`() throws {
        for sample in samples() {
            let data = try NSKeyedArchiver.archivedData(withRootObject: sample, requiringSecureCoding: true)
            let read = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKSubscription.self, from: data)
            )
            #expect(type(of: read) == type(of: sample))
            #expect(read == sample)
            #expect(read.hash == sample.hash)
            #expect(try read.model() == sample.model())
        }
    }

    @Test func `an archive of another kind makes nothing`() throws {
        for sample in samples() {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            sample.encode(with: archiver)
            let data = archiver.encodedData
            func decoder() throws -> NSKeyedUnarchiver { try NSKeyedUnarchiver(forReadingFrom: data) }
            let query = CKQuerySubscription(coder: try decoder())
            let zone = CKRecordZoneSubscription(coder: try decoder())
            let database = CKDatabaseSubscription(coder: try decoder())
            #expect((query != nil) == (sample is CKQuerySubscription))
            #expect((zone != nil) == (sample is CKRecordZoneSubscription))
            #expect((database != nil) == (sample is CKDatabaseSubscription))
        }
    }

    @Test func `a copy is equal and independent`() throws {
        for sample in samples() {
            let copy = try #require(sample.copy() as? CKSubscription)
            #expect(copy !== sample)
            #expect(copy == sample)
            copy.notificationInfo = CKSubscription.NotificationInfo()
            copy.notificationInfo?.alertBody = "other"
            #expect(copy != sample)
        }
    }

    @Test func `the server is told what a subscription says, and the other way round`() throws {
        for sample in samples() {
            let model = try sample.model()
            let made = CKSubscription.made(of: model)
            #expect(type(of: made) == type(of: sample))
            #expect(made == sample)
            #expect(try made.model() == model)
        }
    }

    @Test func `equality is about what a subscription says`() {
        let one = CKDatabaseSubscription(subscriptionID: "a")
        #expect(one == CKDatabaseSubscription(subscriptionID: "a"))
        #expect(one != CKDatabaseSubscription(subscriptionID: "b"))
        let zoneID = CKRecordZone.ID(zoneName: "z")
        #expect(one != CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "a"))
        let typed = CKDatabaseSubscription(subscriptionID: "a")
        typed.recordType = "Note"
        #expect(one != typed)
        func query(_ format: String) -> CKSubscription {
            CKQuerySubscription(
                recordType: "Note",
                predicate: NSPredicate(format: format),
                subscriptionID: "q"
            )
        }
        #expect(query("a == 1") == query("a = 1"))
        #expect(query("a == 1") != query("a == 2"))
    }

    @Test func `a query's definition is as Apple's`() throws {
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(value: true),
            subscriptionID: "q"
        )
        #expect(query.subscriptionType == .query)
        #expect(query.recordType == "Note")
        #expect(query.zoneID == nil)
        #expect(query.notificationInfo == nil)
        #expect(query.querySubscriptionOptions.rawValue == 7)
        #expect(
            try query.model()
                == Model(
                    id: "q",
                    kind: .query(recordType: "Note", predicate: .all, zone: nil, firesOn: .events)
                )
        )
        let once = CKQuerySubscription.Options.firesOnce
        #expect(once.rawValue == 8)
        #expect(
            CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z").subscriptionType == .recordZone
        )
        #expect(CKDatabaseSubscription(subscriptionID: "d").subscriptionType.rawValue == 3)
    }

    @available(*, deprecated)
    @Test func `an ID that was not given is random`() {
        let zoneID = CKRecordZone.ID(zoneName: "z")
        #expect(CKDatabaseSubscription().subscriptionID != CKDatabaseSubscription().subscriptionID)
        #expect(CKRecordZoneSubscription(zoneID: zoneID).subscriptionID.count == 36)
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(value: true),
            options: .firesOnRecordDeletion
        )
        #expect(query.subscriptionID.count == 36)
        #expect(query.querySubscriptionOptions == .firesOnRecordDeletion)
    }

    @Test func `an info comes back from an archive, property by property`() throws {
        let info = fullInfo()
        let read = try #require(try roundTrip(info))
        #expect(read == info)
        #expect(read.parts == info.parts)
        #expect(info.parts.count == 18, "every property is in an archive")
        let model = info.model
        #expect(CKNotificationInfo(model).parts == info.parts)
        #expect((info.copy() as? CKNotificationInfo)?.parts == info.parts)
        let empty = try #require(try roundTrip(CKNotificationInfo()))
        #expect(empty.parts == [])
        #expect(empty.alertLocalizationArgs == nil)
        #expect(CKSubscription.NotificationInfo(alertBody: "a").alertLocalizationArgs == [])
    }

    @Test func `each property of an info counts for equality`() {
        for index in fullInfo().parts.indices {
            let other = fullInfo()
            let name = fullInfo().parts[index].name
            for (key, text) in CKNotificationInfo.texts where key == name { other[keyPath: text] = "other" }
            for (key, list) in CKNotificationInfo.lists where key == name { other[keyPath: list] = nil }
            for (key, flag) in CKNotificationInfo.flags where key == name { other[keyPath: flag] = false }
            #expect(other != fullInfo(), "\(name)")
        }
        let empty = CKNotificationInfo()
        empty.desiredKeys = []
        empty.title = ""
        #expect(empty == CKNotificationInfo())
    }
}
