// What published code writes about records, in the shape of Apple's documented calls. It imports
// nothing but CloudKit.
#if canImport(CloudKit)
import CloudKit

import class CloudKit.CKRecord
import struct CloudKit.CKError

extension CKRecord.ID {
    var isTemporary: Bool { self.recordName.hasPrefix("tmp-") }
}

struct Note {
    var text: String?
    var isPinned: Bool
    var stars: Int
    var score: Double
    var created: Date
    var tags: [String]
    var image: Data?
    var place: CLLocation?

    func record(in zoneID: CKRecordZone.ID) -> CKRecord {
        let recordID = CKRecord.ID(recordName: UUID().uuidString, zoneID: zoneID)
        let record = CKRecord(recordType: "Note", recordID: recordID)
        record["text"] = self.text
        record["isPinned"] = self.isPinned
        record["stars"] = self.stars
        record["score"] = self.score
        record["created"] = self.created
        record["tags"] = self.tags
        record["image"] = self.image
        record["place"] = self.place
        return record
    }

    init?(_ record: CKRecord) {
        guard let stars = record["stars"] as? Int, let created = record["created"] as? Date,
            let tags = record["tags"] as? [String], let isPinned = record["isPinned"] as? Bool
        else { return nil }
        self.text = record["text"] as? String
        self.isPinned = isPinned
        self.stars = stars
        self.score = record["score"] ?? 0.0
        self.created = created
        self.tags = tags
        self.image = record["image"] as? Data
        self.place = record["place"] as? CLLocation
    }

    init(text: String?) {
        self.text = text
        self.isPinned = true
        self.stars = 3
        self.score = 4.5
        self.created = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
        self.tags = ["a", "b"]
        self.image = Data([1, 2, 3])
        self.place = CLLocation(latitude: 47.4, longitude: 8.5)
    }
}

enum RecordIdioms {
    static func subscripts(_ record: CKRecord, optionalText: String?, any: Any) -> [Any?] {
        record["title"] = "text" as CKRecordValue
        record["title"] = "text" as NSString
        record["count"] = 5 as CKRecordValue
        record["count"] = 5 as NSNumber
        record["count"] = NSNumber(value: 5)
        record["ratio"] = 0.5 as CKRecordValue
        record["flag"] = true as CKRecordValue
        record["list"] = ["a", "b"] as CKRecordValue
        record["list"] = ["a", "b"] as NSArray
        record["when"] = Date() as CKRecordValue
        record["when"] = Date() as NSDate
        record["when"] = NSDate()
        record["data"] = Data() as CKRecordValue
        record["data"] = NSData()
        record["optional"] = optionalText as CKRecordValue?
        record["optional"] = optionalText
        record["gone"] = nil
        record["either"] = optionalText == nil ? "a" : "b"
        record["any"] = any as? CKRecordValue
        record["small"] = UInt8(7)
        record["float"] = Float(1.5)
        record["reference"] = CKRecord.Reference(recordID: record.recordID, action: .deleteSelf)
        record["references"] = [CKRecord.Reference(record: record, action: .none)]
        record["asset"] = CKAsset(fileURL: URL(fileURLWithPath: "/dev/null"))
        record["asset"] = nil

        let count: Int? = record["count"]
        let title: String? = record["title"]
        let withDefault = record["title"] ?? "default"
        let forced = record["title"] as! String
        let described = record["title"]!.description
        let value: CKRecordValue? = record["title"]
        let protocolValue: (any CKRecordValueProtocol)? = record["count"]
        let references = record["references"] as? [CKRecord.Reference]
        if let list = record["list"] as? [String], let first = list.first, first == "z" { return [] }
        if let unwrapped: Double = record["ratio"], unwrapped > 1 { return [] }
        return [count, title, withDefault, forced, described, value, protocolValue, references]
    }

    static func methods(_ record: CKRecord, other: CKRecord) -> [Any?] {
        record.setObject("x" as CKRecordValue, forKey: "key")
        record.setObject("x" as NSString, forKey: "key")
        record.setObject(nil, forKey: "gone")
        record.setValue("x", forKey: "key")
        record.setValue(7, forKey: "number")
        record.setValue(["a"], forKey: "list")
        record.setValue(nil, forKey: "gone")
        record.setParent(other)
        record.setParent(other.recordID)
        record.setParent(nil as CKRecord?)
        record.parent = CKRecord.Reference(record: other, action: .none)
        record.encryptedValues["secret"] = "s"
        record.encryptedValues["secretNumber"] = 5
        let secret = record.encryptedValues["secret"] as? String
        let typedSecret: String? = record.encryptedValues["secret"]
        record.encryptedValues.setObject("t" as CKRecordValue, forKey: "secret")
        let copy = record.copy() as! CKRecord
        for (key, value) in record where key == "none" { print(value) }
        for key in record.allKeys() where record[key] == nil && record.encryptedValues[key] == nil {
            return []
        }
        let keys: [CKRecord.FieldKey] = record.changedKeys()
        return [
            record.value(forKey: "key") as? String, record.object(forKey: "number") as? Int, copy.recordType,
            keys,
            secret, typedSecret, record.encryptedValues.allKeys(), record.allTokens(), record.share,
            record.creationDate, record.modificationDate, record.recordChangeTag, record.creatorUserRecordID,
            record.lastModifiedUserRecordID, record.parent?.recordID.recordName,
        ]
    }

    static func identifiers() -> [NSObject] {
        let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)
        let zone = CKRecordZone(zoneName: "Notes")
        let ids: [CKRecord.ID: Int] = [
            CKRecord.ID(recordName: "a"): 1, CKRecord.ID(recordName: "b", zoneID: zoneID): 2,
        ]
        let capabilities: CKRecordZone.Capabilities = [.atomic, .fetchChanges]
        precondition(ids[CKRecord.ID(recordName: "a")] == 1 && capabilities.contains(.atomic))
        return [
            CKRecordZone.default(), zone, CKRecordZone(zoneID: zoneID), zoneID,
            CKRecordZone.ID(zoneName: "Other"),
            CKRecordZone.ID.default, CKRecordZone.ID(), CKRecord.ID(), CKRecord.ID(zoneID: zoneID),
            CKRecordID(recordName: "c", zoneID: zoneID), CKRecordZoneID(zoneName: "d", ownerName: "e"),
            CKReference(recordID: CKRecordID(recordName: "f"), action: .none),
            CKRecord(recordType: CKRecord.SystemType.userRecord), CKRecord(recordType: "Note"),
        ]
    }

    static func archiving(_ record: CKRecord) throws -> CKRecord? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }

    static func names() -> [String] {
        [
            CKRecord.SystemFieldKey.creationDate, CKRecord.SystemFieldKey.modificationDate,
            CKRecord.SystemFieldKey.recordID, CKRecord.SystemFieldKey.parent, CKRecord.SystemFieldKey.share,
            CKRecord.SystemFieldKey.creatorUserRecordID, CKRecord.SystemFieldKey.lastModifiedUserRecordID,
            CKRecordZone.ID.defaultZoneName, CKRecordZoneDefaultName, CKRecord.SystemType.share,
            CKCurrentUserDefaultName, CKRecordNameZoneWideShare,
        ]
    }

    @MainActor static var cache: [CKRecord.ID: CKRecord] = [:]

    static func concurrently(_ record: CKRecord) async -> CKRecord {
        await MainActor.run { self.cache[record.recordID] = record }
        return await Task { record }.value
    }

    static func generic<Value: CKRecordValueProtocol>(
        _ record: CKRecord,
        _ key: String,
        as: Value.Type
    ) -> Value? {
        record[key]
    }
}
#endif
