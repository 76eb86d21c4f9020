import Foundation
import RecordModel
import Testing

@testable import CloudKit

/// Our archives hold everything that Apple's can: an object that cannot be archived would end the
/// program.
@Suite struct ArchiveWalkTests {
    /// An object of a public class, and whether another is what should come back.
    struct Sample: CustomTestStringConvertible, @unchecked Sendable {
        let object: NSObject
        let matches: (Any) -> Bool

        init<Object: NSObject>(_ object: Object, _ matches: @escaping (Object) -> Bool) {
            self.object = object
            self.matches = { ($0 as? Object).map(matches) ?? false }
        }

        init<Object: NSObject>(_ object: Object) {
            self.init(object) { $0 == object }
        }

        var testDescription: String { "\(type(of: self.object))" }
    }

    static let samples: [Sample] =
        Self.recordSamples + Self.querySamples + Self.subscriptionSamples + Self.sharingSamples

    private static var recordSamples: [Sample] {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
        let recordID = CKRecord.ID(recordName: "r", zoneID: zoneID)
        let file = URL(fileURLWithPath: "/tmp/none")
        let record = fetched([("n", .int64(1)), ("kept", .asset(.sample(1)))], parent: "p")
        record["file"] = CKAsset(fileURL: file)
        record["files"] = [CKAsset(fileURL: file), CKAsset(.sample(2))]
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["other"] = CKRecord.Reference(record: record, action: .none)
        record.encryptedValues["secret"] = "s"
        let recordSample = Sample(record) { (read: CKRecord) -> Bool in
            let (file, kept) = (read["file"] as? CKAsset, read["kept"] as? CKAsset)
            guard read.allKeys() == record.allKeys(), read.changedKeys() == record.changedKeys(),
                read.encryptedValues["secret"] as? String == "s"
            else { return false }
            return file?.fileURL?.path == "/tmp/none" && kept?.content == .sample(1)
                && (read["files"] as? [CKAsset])?.count == 2
        }
        let localSample = Sample(CKAsset(fileURL: file)) { (read: CKAsset) -> Bool in
            read.fileURL == file && read.isLocal && read.content == nil
        }
        let fetchedSample = Sample(CKAsset(.sample(1))) { (read: CKAsset) -> Bool in
            read.fileURL == nil && !read.isLocal && read.content == .sample(1)
        }
        let place = CLLocation(latitude: 1.5, longitude: -2)
        let placeSample = Sample(place) { (read: CLLocation) -> Bool in
            read.coordinate.latitude == 1.5 && read.coordinate.longitude == -2
                && read.timestamp == place.timestamp
        }
        return [
            Sample(zoneID), Sample(recordID),
            Sample(CKRecord.Reference(recordID: recordID, action: .deleteSelf)),
            Sample(CKRecordZone(zoneID: zoneID)),
            recordSample, localSample, fetchedSample, placeSample,
            Sample(newRecord()) { $0.recordID == newRecord().recordID && $0.recordChangeTag == nil },
            Sample(CKServerChangeToken(bytes: [1, 2, 3])),
            Sample(CKFetchRecordZoneChangesOperation.ZoneConfiguration(resultsLimit: 7)) {
                $0.resultsLimit == 7
            },
        ]
    }

    private static var querySamples: [Sample] {
        let predicate = NSPredicate(format: "n > %d", 3)
        let query = CKQuery(recordType: "Thing", predicate: predicate)
        let location = CKLocationSortDescriptor(
            key: "place",
            relativeLocation: CLLocation(latitude: 1, longitude: 2)
        )
        query.sortDescriptors = [NSSortDescriptor(key: "n", ascending: false), location]
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 7
        configuration.qualityOfService = .utility
        let group = CKOperationGroup()
        group.defaultConfiguration = configuration
        let querySample = Sample(query) { (read: CKQuery) -> Bool in
            read.predicate == predicate && read.sortDescriptors == query.sortDescriptors
        }
        let configurationSample = Sample(configuration) { (read: CKOperation.Configuration) -> Bool in
            read.timeoutIntervalForRequest == 7 && read.qualityOfService == .utility
                && read.settings.timeoutIntervalForResource == nil
        }
        let groupSample = Sample(group) { (read: CKOperationGroup) -> Bool in
            read.operationGroupID == group.operationGroupID
                && read.defaultConfiguration.timeoutIntervalForRequest == 7
        }
        return [
            Sample(predicate), Sample(NSSortDescriptor(key: "n", ascending: false)), Sample(location),
            querySample, Sample(CKQueryOperation.Cursor(bytes: [4, 5])), configurationSample, groupSample,
        ]
    }

    private static var subscriptionSamples: [Sample] {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
        let info = CKSubscription.NotificationInfo(alertBody: "b", desiredKeys: ["n"], shouldBadge: true)
        let query = CKQuerySubscription(
            recordType: "Thing",
            predicate: NSPredicate(format: "n > 3"),
            subscriptionID: "q",
            options: .firesOnRecordCreation
        )
        query.notificationInfo = info
        let notifications = RecordModel.Notification.samples.map { model in
            model.remoteDictionary(containerIdentifier: "c", id: "n1")
        }.compactMap { CKNotification(fromRemoteNotificationDictionary: $0) }
        let samples = [
            Sample(info), Sample(query),
            Sample(CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "z")),
            Sample(CKDatabaseSubscription(subscriptionID: "d")), Sample(CKNotification.ID("n1")),
        ]
        return samples
            + notifications.map { notification in
                Sample(notification) { (read: CKNotification) -> Bool in read.says(the: notification) }
            }
    }

    private static var sharingSamples: [Sample] {
        let ann = person("A", user: "_ann", email: "ann@example.org")
        let share = fetchedShare(serverShare([ann]))
        let model = ShareMetadata(
            container: "org.example",
            share: shareRecord(serverShare()),
            rootRecordName: "list",
            role: .privateUser,
            acceptance: .pending,
            permission: .readOnly,
            owner: UserIdentity(userRecordName: "_me")
        )
        return [
            Sample(share) { $0.url == share.url && $0.participants == share.participants },
            Sample(CKShare(recordZoneID: sharedZone)) { $0.recordID.zoneID == sharedZone },
            Sample(CKShare.Participant(ann)), Sample(CKUserIdentity(ann.identity)),
            Sample(CKUserIdentity.LookupInfo(emailAddress: "ann@example.org")),
            Sample(CKShare.AccessRequester(ann.identity)), Sample(CKShare.BlockedIdentity(ann.identity)),
            Sample(CKShare.Metadata(model, share: share, rootRecord: newRecord(), token: "t")),
            Sample(CKAllowedSharingOptions.standard) { $0.allowedParticipantAccessOptions == .any },
        ]
    }

    @Test(arguments: samples, [true, false])
    func `an object is archived by itself, in an array and in a dictionary`(
        _ sample: Sample,
        isSecure: Bool
    ) throws {
        let object = sample.object
        let list = NSArray(array: [object, NSArray(array: [object])])
        let table = NSDictionary(object: list, forKey: NSString(string: "list"))
        for root in [object, list, table] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: isSecure)
            let classes: [AnyClass] = [NSArray.self, NSDictionary.self, NSString.self, type(of: object)]
            let read =
                isSecure
                ? try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
                : try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data)
            var found: Any = read ?? NSNull()
            if let table = found as? NSDictionary {
                found = table.object(forKey: NSString(string: "list")) ?? NSNull()
            }
            if let list = found as? NSArray {
                let isFirst = sample.matches(list.object(at: 0))
                #expect(isFirst)
                found = (list.object(at: 1) as? NSArray)?.object(at: 0) ?? list
            }
            let isSame = sample.matches(found)
            #expect(isSame, "\(sample.testDescription) in \(root.classForCoder)")
        }
    }

    @Test func `values of Swift in arrays and dictionaries are archived with them`() throws {
        let record = newRecord()
        record["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/none"))
        let root: [String: Any] = ["records": [record], "ids": [record.recordID], "n": 1]
        let data = try NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: true)
        let classes: [AnyClass] = [
            NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, CKRecord.self, CKRecord.ID.self,
        ]
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? [String: Any]
        #expect((read?["ids"] as? [CKRecord.ID]) == [record.recordID])
        #expect((read?["records"] as? [CKRecord])?.first?.allKeys() == ["file"])
    }

    @Test func `a notification is archived without what JSON lacks`() throws {
        let dictionary: [AnyHashable: Any] = ["ck": ["met": ["dbs": 2]], "own": Date()]
        let notification = try #require(CKNotification(fromRemoteNotificationDictionary: dictionary))
        let data = try NSKeyedArchiver.archivedData(withRootObject: notification, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKDatabaseNotification.self, from: data)
        #expect(try #require(read).says(the: notification))
    }
}

extension CKNotification {
    /// Whether both are of one class and say the same.
    func says(the other: CKNotification) -> Bool {
        let texts = [self, other].map { notification in
            let record = notification as? CKQueryNotification
            let zone = notification as? CKRecordZoneNotification
            let fields = (record?.recordFields ?? [:]).map { "\($0): \($1)" }.sorted()
            return """
                \(type(of: notification)) \(notification.notificationID?.text ?? "") \(notification.isPruned)
                \(notification.subscriptionID ?? "") \(notification.isCoalesced) \(fields)
                \(notification.commitDate?.timeIntervalSinceReferenceDate ?? 0) \(notification.alertBody ?? "")
                \(notification.titleLocalizationArgs ?? []) \(notification.badge ?? -1)
                \(notification.subscriptionOwnerUserRecordID?.recordName ?? "")
                \(record?.recordID?.description ?? "") \(record?.queryNotificationReason.rawValue ?? 0)
                \(zone?.recordZoneID?.description ?? "") \(notification.containerIdentifier ?? "")
                """
        }
        return texts[0] == texts[1]
    }
}

extension RecordModel.Notification {
    /// One of every kind, with and without details.
    static var samples: [RecordModel.Notification] {
        let zone = ZoneID(zoneName: "z", ownerName: "_them")
        let values: [(String, FieldValue)] = [
            ("at", .timestamp(7.5)), ("bytes", .bytes([1, 2])), ("n", .int64(3)),
            ("place", .location(Location(latitude: 1, longitude: 2))),
            ("reference", .reference(RecordModel.Reference(recordName: "o", action: .none))),
            ("tags", .stringList(["a", "b"])), ("title", .string("t")), ("x", .double(0.5)),
        ]
        let fields = RecordBody(values.map { Field(name: $0.0, value: $0.1) })
        let reasons: [Reason] = [.recordCreated, .recordUpdated, .recordDeleted]
        let changes = reasons.map { reason in
            RecordChange(id: RecordID(zone: zone, recordName: "r"), reason: reason, fields: fields)
        }
        var info = NotificationInfo()
        info.alertBody = "body"
        info.titleLocalizationArgs = ["n"]
        info.shouldBadge = true
        var events: [Event] = [.query(nil), .zone(zone), .zone(.default), .database]
        events += changes.map { Event.query($0) }
        return events.map { event in
            RecordModel.Notification(
                number: 3,
                subscriptionID: "s",
                scope: .private,
                event: event,
                owner: "_me",
                info: info,
                committedMilliseconds: 1_501
            )
        }
    }
}
