import CloudKit
import Foundation
import RecordModel
import Testing

private func systemFields(_ record: CKRecord) -> Data {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    return archiver.encodedData
}

private func record(from data: Data) throws -> CKRecord? {
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
    unarchiver.requiresSecureCoding = true
    return CKRecord(coder: unarchiver)
}

private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
}

struct `An archive` {
    @Test func `of system fields makes a record that can be changed and saved`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
        let parent = CKRecord.ID(recordName: "p", zoneID: zoneID)
        var server = model([("a", .int64(1))], tag: "t7", parent: "p")
        server.id.zone = zoneID.model
        let original = CKRecord(server, currentUser: "_me")
        original["b"] = 2
        let record = try #require(try record(from: systemFields(original)))
        #expect(record.recordID == original.recordID)
        #expect(record.recordType == "Thing")
        #expect(record.recordChangeTag == "t7")
        #expect(record.creationDate == original.creationDate)
        #expect(record.modificationDate == original.modificationDate)
        #expect(record.creatorUserRecordID == original.creatorUserRecordID)
        #expect(record.lastModifiedUserRecordID == original.lastModifiedUserRecordID)
        #expect(record.parent == CKRecord.Reference(recordID: parent, action: .none))
        #expect(record.allKeys() == [])
        #expect(record.changedKeys() == [])
        record["c"] = 3
        let save = try record.save(policy: .ifServerRecordUnchanged)
        #expect(save.changeTag == "t7")
        #expect(save.changes.fields == [Field(name: "c", value: .int64(3))])
        #expect(save.parent == .unchanged)
    }

    @Test func `of equal system fields is equal byte for byte`() throws {
        let original = fetched([("a", .int64(1))], parent: "p")
        let data = systemFields(original)
        // The binary format would differ only now and then: its order follows the addresses of dictionaries.
        #expect(data.starts(with: Data("<?xml".utf8)))
        for _ in 0..<20 {
            #expect(systemFields(fetched([], parent: "p")) == data)
        }
        #expect(systemFields(try #require(try record(from: data))) == data)
        #expect(systemFields(fetched([], tag: "t2", parent: "p")) != data)
    }

    @Test func `of a record keeps values, changes and refusals`() throws {
        let original = fetched([("a", .int64(1)), ("gone", .string("x"))])
        original["b"] = Date(timeIntervalSinceReferenceDate: 0.1)
        original["gone"] = nil
        original.encryptedValues["s"] = "secret"
        let copy = try #require(try roundTrip(original))
        #expect(copy.allKeys() == ["a", "b", "s"])
        #expect(copy.changedKeys() == ["b", "gone", "s"])
        #expect(copy.encryptedValues.changedKeys() == ["s"])
        #expect(copy.encryptedValues["s"] as? String == "secret")
        let sent = try original.save(policy: .changedKeys)
        #expect(try copy.save(policy: .changedKeys) == sent)
        original["bad"] = Double.nan
        #expect(refusal(of: try #require(try roundTrip(original)))?.code == .invalidArguments)
    }

    @Test func `of a new record has no change tag`() throws {
        let copy = try #require(try roundTrip(newRecord()))
        #expect(copy.recordChangeTag == nil)
        #expect(copy.creationDate == nil)
        #expect(copy.recordID == newRecord().recordID)
    }

    @Test func `keeps a parent that was not sent yet`() throws {
        let original = fetched([], parent: "p")
        original.parent = nil
        let removed = try #require(try record(from: systemFields(original)))
        #expect(try removed.save(policy: .changedKeys).parent == .removed)
    }

    @Test func `keeps IDs, zones, references and locations`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
        let id = CKRecord.ID(recordName: "r", zoneID: zoneID)
        let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
        let zone = CKRecordZone(Zone(id: zoneID.model, capabilities: .atomic))
        zone.encryptionScope = .perZone
        #expect(try roundTrip(zoneID) == zoneID)
        #expect(try roundTrip(id) == id)
        #expect(try roundTrip(reference) == reference)
        let zoneCopy = try #require(try roundTrip(zone))
        #expect(zoneCopy.zoneID == zoneID)
        #expect(zoneCopy.capabilities == .atomic)
        #expect(zoneCopy.encryptionScope == .perZone)
        let place = CLLocation(latitude: 1.5, longitude: -2.25)
        let placeCopy = try #require(try roundTrip(place))
        #expect(placeCopy.coordinate.latitude == 1.5)
        #expect(placeCopy.coordinate.longitude == -2.25)
        #expect(placeCopy.verticalAccuracy == -1)
        #expect(placeCopy.timestamp == place.timestamp)
    }

    @Test(arguments: [
        [], [0], [0x0A], [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], Array(repeating: 0xFF, count: 64),
    ])
    func `of other bytes makes nothing`(bytes: [UInt8]) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encodeBytes(bytes, length: bytes.count, forKey: "TidemarkBody")
        archiver.encodeBytes(bytes, length: bytes.count, forKey: "CLLocationMeasurement")
        let data = archiver.encodedData
        func coder() throws -> NSKeyedUnarchiver { try NSKeyedUnarchiver(forReadingFrom: data) }
        #expect(try CKRecord(coder: coder()) == nil)
        #expect(try CKRecord.ID(coder: coder()) == nil)
        #expect(try CKRecordZone.ID(coder: coder()) == nil)
        #expect(try CKRecordZone(coder: coder()) == nil)
        #expect(try CKRecord.Reference(coder: coder()) == nil)
        #expect(try CLLocation(coder: coder()) == nil)
    }

    @Test func `of another shape makes nothing`() throws {
        let text = NSKeyedArchiver(requiringSecureCoding: true)
        text.encode(NSString(string: "text"), forKey: "TidemarkBody")
        let number = NSKeyedArchiver(requiringSecureCoding: true)
        number.encode(7, forKey: "TidemarkBody")
        let object = NSKeyedArchiver(requiringSecureCoding: true)
        object.encode(NSURL(fileURLWithPath: "/"), forKey: "TidemarkBody")
        let empty = NSKeyedArchiver(requiringSecureCoding: true)
        for archiver in [text, number, object, empty] {
            let data = archiver.encodedData
            #expect(try record(from: data) == nil)
            #expect(try CKRecord.ID(coder: NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        }
        let root = try NSKeyedArchiver.archivedData(
            withRootObject: NSString(string: "x"),
            requiringSecureCoding: true
        )
        #expect(try record(from: root) == nil)
    }

    @Test func `that was cut or damaged never ends the program`() throws {
        let original = fetched([("a", .stringList(["x", "y"])), ("b", .double(1))], parent: "p")
        original["c"] = CLLocation(latitude: 1, longitude: 2)
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        original.encode(with: archiver)
        let coder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let bytes = try #require(
            coder.withDecodedUnsafeBufferPointer(forKey: "TidemarkBody") { $0.map { Array($0) } }
        )
        for index in bytes.indices {
            for replacement in [bytes[index] ^ 1, bytes[index] ^ 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] = replacement
                let hostile = NSKeyedArchiver(requiringSecureCoding: true)
                hostile.encodeBytes(damaged, length: damaged.count, forKey: "TidemarkBody")
                let record = try record(from: hostile.encodedData)
                _ = record.map { ($0.description, refusal(of: $0)) }
            }
            let cut = NSKeyedArchiver(requiringSecureCoding: true)
            cut.encodeBytes(Array(bytes[..<index]), length: index, forKey: "TidemarkBody")
            _ = try record(from: cut.encodedData)
        }
    }
}
