import CloudKit
import CoreLocation
import Foundation
import RecordModel
import Testing
import WireProtocol

/// A record that a server returned, whose fields are decoded when somebody looks at them.
struct `A fetched record` {
    private static let fields = [
        Field(name: "Zoo", value: .string("ß")),
        Field(name: "___share", value: .reference(RecordModel.Reference(recordName: "s", action: .none))),
        Field(name: "count", value: .int64(7)),
        Field(name: "file", value: .asset(Asset(sha256: [UInt8](repeating: 1, count: 32), size: 3))),
        Field(name: "place", value: .location(Location(latitude: 1, longitude: 2))),
        Field(name: "secret", value: .string("s"), isEncrypted: true),
        Field(name: "tags", value: .stringList(["a", "b"])),
    ]

    private static func record(parent: String? = nil) -> CKRecord {
        let id = RecordID(zone: ZoneID(zoneName: "z"), recordName: "r")
        let system = SystemFields(
            createdMilliseconds: 1,
            modifiedMilliseconds: 2,
            createdBy: "_me",
            modifiedBy: "_other"
        )
        let record = Record(
            id: id,
            recordType: "Thing",
            changeTag: "1",
            system: system,
            parent: parent,
            body: RecordBody(self.fields)
        )
        return CKRecord(record, currentUser: "_me")
    }

    private static func check(_ record: CKRecord, zoo: String) {
        #expect(record["Zoo"] as? String == zoo)
        #expect(record["count"] as? Int == 7)
        #expect(record["tags"] as? [String] == ["a", "b"])
        #expect(record["secret"] == nil && record.encryptedValues["secret"] as? String == "s")
        #expect(record["___share"] == nil && record["absent"] == nil)
        #expect(record.allKeys() == ["Zoo", "count", "file", "place", "secret", "tags"])
        #expect(record.map(\.0) == ["Zoo", "count", "file", "place", "tags"])
        #expect(record.share?.recordID.recordName == "s")
    }

    @Test func `has its fields before one of them changes and afterwards`() throws {
        let record = Self.record()
        Self.check(record, zoo: "ß")
        #expect(record.changedKeys() == [])
        record["Zoo"] = "new"
        Self.check(record, zoo: "new")
        #expect(record.changedKeys() == ["Zoo"])
        #expect(try record.save(policy: .changedKeys).changes.fields.map(\.name) == ["Zoo"])
        let names = try record.save(policy: .allKeys).changes.fields.map(\.name)
        #expect(names == ["Zoo", "count", "file", "place", "secret", "tags"])
    }

    @Test func `sends every field that it was given`() throws {
        let record = Self.record()
        let sent = try record.save(policy: .allKeys).changes.fields
        #expect(sent == Self.fields.filter { $0.name != "___share" })
    }

    @Test func `has what was saved, and nothing left to send`() throws {
        let record = Self.record()
        record["Zoo"] = "new"
        record["count"] = nil
        record["added"] = 2.5
        let sent = try record.save(policy: .changedKeys)
        #expect(sent.changes.fields.map(\.name) == ["Zoo", "added", "count"])
        record["added"] = 3
        let system = SystemFields(
            createdMilliseconds: 1,
            modifiedMilliseconds: 3,
            createdBy: "",
            modifiedBy: ""
        )
        record.saved(RecordSaved(changeTag: "2", system: system), sent: sent, currentUser: nil)
        #expect(record["Zoo"] as? String == "new" && record["count"] == nil)
        #expect(record["added"] as? Int == 3 && record["tags"] as? [String] == ["a", "b"])
        #expect(record.changedKeys() == ["added"])
        #expect(record.allKeys() == ["Zoo", "added", "file", "place", "secret", "tags"])
        #expect(try record.save(policy: .changedKeys).changes.fields.map(\.name) == ["added"])
        // A removed field may come back as the other kind.
        record.encryptedValues["count"] = 1
        #expect(record.encryptedValues["count"] as? Int == 1 && record["count"] == nil)
        #expect(record.share?.recordID.recordName == "s")
    }

    @Test func `has a parent that stays the server's until it is set`() throws {
        let parentID = CKRecord.ID(recordName: "p", zoneID: CKRecordZone.ID(zoneName: "z"))
        let record = Self.record(parent: "p")
        #expect(record.parent == CKRecord.Reference(recordID: parentID, action: .none))
        #expect(try record.save(policy: .changedKeys).parent == .unchanged)
        #expect(try record.save(policy: .allKeys).parent == .set(recordName: "p"))
        record.parent = nil
        #expect(record.parent == nil)
        #expect(try record.save(policy: .changedKeys).parent == .removed)
    }

    @Test func `loses the field that is removed, and no other`() {
        let record = Self.record()
        record["count"] = nil
        #expect(record["count"] == nil)
        #expect(record.allKeys() == ["Zoo", "file", "place", "secret", "tags"])
        record["count"] = 7
        Self.check(record, zoo: "ß")
    }

    @Test func `has one object for a location and for an asset, however often one looks`() throws {
        let record = Self.record()
        let place = try #require(record["place"] as? CLLocation)
        let file = try #require(record["file"] as? CKAsset)
        #expect(record["place"] as? CLLocation === place)
        for (key, value) in record where key == "file" { #expect(value as? CKAsset === file) }
        record["Zoo"] = "new"
        #expect(record["place"] as? CLLocation === place)
        #expect(record["file"] as? CKAsset === file)
        let copy = try #require(record.copy() as? CKRecord)
        #expect(copy["place"] as? CLLocation === place)
    }

    @Test func `has bytes that cast to both types, and to an object`() {
        let record = newRecord()
        record["data"] = NSData(data: Data([1, 2]))
        #expect(record["data"] as? Data == Data([1, 2]))
        #expect(record["data"] as? NSData == NSData(data: Data([1, 2])))
        #expect((record["data"] as? NSObject)?.isEqual(NSData(data: Data([1, 2]))) == true)
        #expect((record["data"] as AnyObject) is NSData)
        #expect(record.value(forKey: "data") as? Data == Data([1, 2]))
    }

    @Test func `does not take a plain value for an encrypted field`() {
        let record = Self.record()
        record["secret"] = "plain"
        #expect(throws: CKError.self) { try record.save(policy: .changedKeys) }
    }
}
