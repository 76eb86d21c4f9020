import CloudKit
import Foundation
import RecordModel
import Testing
import WireProtocol

private let answer = RecordSaved(
    changeTag: "t2",
    system: SystemFields(createdMilliseconds: 1, modifiedMilliseconds: 2, createdBy: "_me", modifiedBy: "")
)

struct `A record` {
    @Test func `counts a value as changed when it is set, equal or not`() {
        let record = fetched([("a", .int64(1)), ("b", .int64(2))])
        #expect(record.changedKeys() == [])
        record["a"] = 1
        #expect(record.changedKeys() == ["a"])
        record["b"] = nil
        record["c"] = nil
        #expect(record.changedKeys() == ["a", "b", "c"])
        #expect(record.allKeys() == ["a"])
    }

    @Test func `sends changed keys, or all that it has`() throws {
        let record = fetched([("a", .int64(1)), ("b", .int64(2)), ("c", .int64(3))])
        record["b"] = nil
        record["d"] = "x"
        #expect(try sentFields(record, .ifServerRecordUnchanged) == ["b": .clear, "d": .string("x")])
        #expect(try sentFields(record, .changedKeys) == ["b": .clear, "d": .string("x")])
        #expect(
            try sentFields(record, .allKeys) == [
                "a": .int64(1), "b": .clear, "c": .int64(3), "d": .string("x"),
            ]
        )
    }

    @Test func `sends its ID, type and change tag`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: CKCurrentUserDefaultName)
        let record = CKRecord(recordType: "Thing", recordID: CKRecord.ID(recordName: "n", zoneID: zoneID))
        let save = try record.save(policy: .ifServerRecordUnchanged)
        #expect(save.id == RecordID(zone: ZoneID(zoneName: "Z", ownerName: ""), recordName: "n"))
        #expect(save.recordType == "Thing")
        #expect(save.changeTag == nil)
        #expect(save.changes.isEmpty)
        #expect(try fetched([]).save(policy: .allKeys).changeTag == "t1")
    }

    @Test func `takes up the server's answer`() throws {
        let record = newRecord()
        record["a"] = 1
        let sent = try record.save(policy: .ifServerRecordUnchanged)
        record.saved(answer, sent: sent, currentUser: "_me")
        #expect(record.recordChangeTag == "t2")
        #expect(record.creationDate == Date(timeIntervalSince1970: 0.001))
        #expect(record.modificationDate == Date(timeIntervalSince1970: 0.002))
        #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        #expect(record.lastModifiedUserRecordID == nil)
        #expect(record.changedKeys() == [])
        #expect(record["a"] as? Int == 1)
    }

    @Test func `keeps changes that were made after what was sent`() throws {
        let record = fetched([("a", .int64(1)), ("b", .int64(1)), ("c", .int64(1))])
        record["a"] = 2
        record["b"] = 2
        record["d"] = 2
        let sent = try record.save(policy: .ifServerRecordUnchanged)
        record["b"] = 2
        record["c"] = 3
        record["d"] = nil
        record.saved(answer, sent: sent, currentUser: nil)
        #expect(record.changedKeys() == ["b", "c", "d"])
        #expect(try sentFields(record) == ["b": .int64(2), "c": .int64(3), "d": .clear])
    }

    @Test func `tells two saves under way apart`() throws {
        let record = newRecord()
        record["a"] = 1
        let first = try record.save(policy: .changedKeys)
        record["a"] = 2
        let second = try record.save(policy: .changedKeys)
        record.saved(answer, sent: first, currentUser: nil)
        #expect(record.changedKeys() == ["a"])
        record.saved(answer, sent: second, currentUser: nil)
        #expect(record.changedKeys() == [])
    }

    @Test func `sends a parent when it was changed, or with all keys`() throws {
        let record = fetched([], parent: "p")
        #expect(record.parent == CKRecord.Reference(recordID: CKRecord.ID(recordName: "p"), action: .none))
        #expect(try record.save(policy: .changedKeys).parent == .unchanged)
        #expect(try record.save(policy: .allKeys).parent == .set(recordName: "p"))
        record.parent = nil
        #expect(try record.save(policy: .changedKeys).parent == .removed)
        record.setParent(CKRecord.ID(recordName: "q"))
        let sent = try record.save(policy: .changedKeys)
        #expect(sent.parent == .set(recordName: "q"))
        record.saved(answer, sent: sent, currentUser: nil)
        #expect(try record.save(policy: .changedKeys).parent == .unchanged)
        #expect(record.changedKeys() == [])
    }

    @Test func `refuses a parent in another zone or with an action`() {
        let record = newRecord()
        record.parent = CKRecord.Reference(recordID: CKRecord.ID(recordName: "p"), action: .deleteSelf)
        #expect(refusal(of: record)?.code == .invalidArguments)
        let far = CKRecord.ID(recordName: "p", zoneID: CKRecordZone.ID(zoneName: "Z"))
        record.parent = CKRecord.Reference(recordID: far, action: .none)
        #expect(refusal(of: record)?.code == .invalidArguments)
        record.setParent(CKRecord.ID(recordName: "p"))
        #expect(refusal(of: record) == nil)
    }

    static let longName = String(repeating: "n", count: 255)

    @Test(arguments: [longName, "n", "Name_9"])
    func `takes keys and types of up to 255 letters, digits and low lines`(name: String) {
        let record = CKRecord(recordType: name)
        record[name] = 1
        #expect(refusal(of: record) == nil)
        #expect(record[name] as? Int == 1)
    }

    @Test(arguments: [longName + "n", "", "_n", "9n", "n-n", "é", "n.n"])
    func `refuses other keys and types`(name: String) {
        #expect(refusal(of: CKRecord(recordType: name))?.code == .invalidArguments)
        let record = newRecord()
        record[name] = 1
        let error = refusal(of: record)
        #expect(error?.code == .invalidArguments && error?.retryAdvice == .afterChange)
        #expect(
            error?.localizedDescription.contains("Field '\(name)': the name of a field is an ASCII letter")
                == true
        )
        record[name] = nil
        #expect(refusal(of: record) == nil)
        #expect(record.allKeys() == [] && record.changedKeys() == [])
    }

    @Test(arguments: [longName + "n", "", "_n", "_", "___etag", "price$", "n-n", "é", "n.n"])
    func `keeps a field under a name that no server takes`(name: String) throws {
        let record = fetched([("a", .int64(1))])
        record[name] = "kept"
        record.encryptedValues["s" + name] = 2
        #expect(record[name] as? String == "kept" && record.encryptedValues["s" + name] as? Int == 2)
        #expect(record.value(forKey: name) as? String == "kept")
        #expect(Set(record.allKeys()) == ["a", name, "s" + name])
        #expect(Set(record.changedKeys()) == [name, "s" + name])
        let archive = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: archive)
        for copy in [record.copy() as? CKRecord, read] {
            #expect(copy?[name] as? String == "kept")
            #expect(copy?.encryptedValues["s" + name] as? Int == 2)
            #expect(copy?.changedKeys() == record.changedKeys())
            let text = copy.flatMap { refusal(of: $0) }?.localizedDescription
            #expect(text == refusal(of: record)?.localizedDescription && text != nil)
        }
        record[name] = nil
        record.encryptedValues["s" + name] = nil
        #expect(refusal(of: record) == nil && record.allKeys() == ["a"])
    }

    /// A type of an app's own, which says that it can be a value.
    private struct Money: CKRecordValueProtocol {}

    @Test func `keeps its value when it is given one of a type that fields can't have`() throws {
        let record = fetched([("price", .int64(1))])
        record["price"] = Money()
        record.encryptedValues["secret"] = Money() as any CKRecordValueProtocol
        #expect(record["price"] as? Int == 1 && record.changedKeys() == [])
        #expect(refusal(of: record)?.localizedDescription.contains("'price'") == true)
        record["price"] = 2
        #expect(refusal(of: record)?.localizedDescription.contains("of the type Money") == true)
        record.encryptedValues["secret"] = "s"
        #expect(refusal(of: record) == nil)
    }

    @Test(arguments: [longName + "n", "", "_n", "\u{85}", "a\nb"])
    func `refuses names that records and zones can't have`(name: String) {
        #expect(refusal(of: newRecord(name))?.code == .invalidArguments)
        let zoneID = CKRecordZone.ID(zoneName: name)
        let record = CKRecord(recordType: "Thing", recordID: CKRecord.ID(recordName: "n", zoneID: zoneID))
        #expect(refusal(of: record)?.code == .invalidArguments)
    }

    @Test func `keeps encrypted values apart`() throws {
        let record = newRecord()
        record["plain"] = 1
        record.encryptedValues["secret"] = "s"
        #expect(record.allKeys() == ["plain", "secret"])
        #expect(record.changedKeys() == ["plain", "secret"])
        #expect(record.map(\.0) == ["plain"])
        #expect(record.encryptedValues.allKeys() == ["secret"])
        #expect(record.encryptedValues.changedKeys() == ["secret"])
        #expect(record["secret"] == nil)
        #expect(record.encryptedValues["plain"] as (any CKRecordValue)? == nil)
        #expect(try record.save(policy: .changedKeys).changes.fields.map(\.isEncrypted) == [false, true])
        record.encryptedValues["secret"] = nil
        let cleared = try record.save(policy: .changedKeys).changes.fields.last
        #expect(cleared == Field(name: "secret", value: .clear, isEncrypted: true))
    }

    /// As published resolvers do it: they take the encrypted keys for a part of all.
    @Test func `takes over all fields of another, encrypted ones included`() throws {
        let client = newRecord()
        client["plain"] = "client"
        client.encryptedValues["secret"] = "client"
        client.encryptedValues["new"] = 1
        let server = fetched([("plain", .string("server")), ("gone", .int64(1))])
        server.encryptedValues["secret"] = "server"
        for key in server.allKeys() {
            if server.encryptedValues.allKeys().contains(key) {
                server.encryptedValues[key] = nil
            } else {
                server[key] = nil
            }
        }
        for key in client.allKeys() {
            if client.encryptedValues.allKeys().contains(key) {
                server.encryptedValues[key] = client.encryptedValues[key]
            } else {
                server[key] = client[key]
            }
        }
        #expect(server.allKeys() == ["new", "plain", "secret"])
        #expect(server.encryptedValues["secret"] as? String == "client")
        let sent = try server.save(policy: .changedKeys).changes.fields
        #expect(sent.map(\.name) == ["gone", "new", "plain", "secret"])
        #expect(sent.map(\.isEncrypted) == [false, true, false, true])
    }

    @Test func `keeps encrypted fields when all changed keys are copied as plain ones, before or after`()
        throws
    {
        let client = newRecord()
        client.encryptedValues["secret"] = "client"
        client.encryptedValues["new"] = 1
        let server = fetched([])
        server.encryptedValues["secret"] = "server"
        for key in client.changedKeys() { server[key] = client[key] }
        #expect(server.encryptedValues["secret"] as? String == "server")
        for key in client.encryptedValues.changedKeys() {
            server.encryptedValues[key] = client.encryptedValues[key]
        }
        for key in client.changedKeys() { server[key] = client[key] }
        #expect(server.encryptedValues["secret"] as? String == "client")
        #expect(server.encryptedValues["new"] as? Int == 1)
        let sent = try server.save(policy: .changedKeys).changes.fields
        #expect(sent.map(\.name) == ["new", "secret"] && sent.allSatisfy(\.isEncrypted))
    }

    @Test func `refuses a key that is both encrypted and not`() {
        let record = newRecord()
        record.encryptedValues["k"] = "s"
        record["k"] = 1
        #expect(refusal(of: record)?.code == .invalidArguments)
        #expect(record.encryptedValues["k"] as? String == "s")
        record["k"] = nil
        #expect(refusal(of: record) == nil)
        #expect(record.encryptedValues["k"] as? String == "s")
    }

    @Test func `refuses encrypted references and values of no type`() {
        let record = newRecord()
        record.encryptedValues["k"] = CKRecord.Reference(record: record, action: .none)
        #expect(refusal(of: record)?.code == .invalidArguments)
        record.encryptedValues["k"] = nil
        record.setValue(NSNull(), forKey: "v")
        #expect(refusal(of: record)?.code == .invalidArguments)
        record.setValue("x", forKey: "v")
        #expect(refusal(of: record) == nil)
    }

    @Test func `reads system properties by name where no field has it`() {
        let record = fetched([("share", .string("field"))], parent: "p")
        #expect(record.value(forKey: "recordID") as? CKRecord.ID == record.recordID)
        #expect(record.value(forKey: "creationDate") as? Date == Date(timeIntervalSince1970: 1))
        #expect(record.value(forKey: "modificationDate") as? Date == Date(timeIntervalSince1970: 2.5))
        #expect((record.value(forKey: "parent") as? CKRecord.Reference)?.recordID.recordName == "p")
        #expect(record.value(forKey: "share") as? String == "field")
        #expect(record.value(forKey: "nothing") == nil)
    }

    @Test func `takes and gives several values by key-value coding`() throws {
        let record = fetched([("old", .string("x"))], parent: "p")
        let place = CLLocation(latitude: 1, longitude: 2)
        let target = CKRecord.Reference(recordID: CKRecord.ID(recordName: "t"), action: .none)
        record.setValuesForKeys([
            "text": "x", "size": CGFloat(1.5), "tags": ["a", "b" as NSString] as [Any], "place": place,
            "target": target, "old": NSNull(), "maybe": Optional("y") as Any,
        ])
        record.setValue(Decimal(string: "2.25"), forKey: "price")
        #expect(
            try sentFields(record) == [
                "text": .string("x"), "size": .double(1.5), "tags": .stringList(["a", "b"]),
                "place": try #require(try sentFields(record)["place"]), "old": .clear,
                "target": .reference(RecordModel.Reference(recordName: "t", action: .none)),
                "maybe": .string("y"), "price": .double(2.25),
            ]
        )
        let values = record.dictionaryWithValues(forKeys: ["text", "recordType", "nothing"])
        #expect(values["text"] as? String == "x" && values["recordType"] as? String == record.recordType)
        #expect(values["nothing"] is NSNull)
        #expect(record.value(forKeyPath: "text") as? String == "x")
        #expect(record.value(forKeyPath: "target.recordID.recordName") as? String == "t")
        #expect(record.value(forKeyPath: "parent.recordID.recordName") as? String == "p")
        let zone = record.value(forKeyPath: "recordID.zoneID.zoneName") as? String
        #expect(zone == record.recordID.zoneID.zoneName)
        #expect(record.value(forKeyPath: "place.coordinate") as? CLLocationCoordinate2D != nil)
        #expect(record.value(forKeyPath: "text.recordName") == nil && record.value(forKeyPath: "") == nil)
        record.setValue(nil, forKey: "parent")
        #expect(record.parent == nil && record.value(forKey: "parent") == nil)
    }

    @Test func `takes an array of any elements as one of their type`() throws {
        let record = newRecord()
        let lists: [([Any], FieldValue)] = [
            ([1, 2], .int64List([1, 2])), ([1, 2.5, CGFloat(3)], .doubleList([1, 2.5, 3])),
            ([Data([1])], .bytesList([[1]])), ([], .emptyList),
        ]
        for (elements, expected) in lists {
            record.setValue(elements, forKey: "list")
            #expect(try sentFields(record) == ["list": expected])
        }
        record.setValue([1, "x"] as [Any], forKey: "list")
        #expect(refusal(of: record)?.localizedDescription.contains("'list'") == true)
        record.setValue(["a": 1], forKey: "list")
        #expect(refusal(of: record)?.localizedDescription.contains("of the type Dictionary") == true)
    }

    @Test func `copies to a record of its own`() throws {
        let record = fetched([("a", .int64(1))], parent: "p")
        record["b"] = 2
        let copy = try #require(record.copy() as? CKRecord)
        copy["a"] = 5
        record["c"] = 3
        #expect(record["a"] as? Int == 1)
        #expect(copy.allKeys() == ["a", "b"])
        #expect(copy.changedKeys() == ["a", "b"])
        #expect(copy.recordChangeTag == "t1")
        #expect(copy.parent == record.parent)
        #expect(copy != record)
    }

    @Test func `walks its fields and collects words`() {
        let record = fetched([("b", .string("Two words, two")), ("a", .string("one")), ("n", .int64(1))])
        #expect(record.map(\.0) == ["a", "b", "n"])
        #expect(record.compactMap { $0.1 as? String } == ["one", "Two words, two"])
        #expect(record.allTokens() == ["one", "Two", "words,", "two"])
    }

    @Test func `names the creator and calls the current user by the default name`() {
        let record = fetched([])
        #expect(record.creatorUserRecordID == CKRecord.ID(recordName: CKCurrentUserDefaultName))
        #expect(record.lastModifiedUserRecordID == CKRecord.ID(recordName: "_you"))
    }
}

struct `An ID` {
    @Test func `is compared by value`() {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
        let other = CKRecordZone.ID(zoneName: "Z")
        #expect(zoneID == CKRecordZone.ID(zoneName: "Z", ownerName: "_o"))
        #expect(zoneID.hash == CKRecordZone.ID(zoneName: "Z", ownerName: "_o").hash)
        #expect(zoneID != other)
        #expect(CKRecord.ID(recordName: "a", zoneID: zoneID) == CKRecord.ID(recordName: "a", zoneID: zoneID))
        #expect(CKRecord.ID(recordName: "a", zoneID: zoneID) != CKRecord.ID(recordName: "a", zoneID: other))
        #expect(CKRecord.ID(recordName: "a") != CKRecord.ID(recordName: "b"))
        #expect(CKRecord.ID() != CKRecord.ID())
        let reference = CKRecord.Reference(recordID: CKRecord.ID(recordName: "a"), action: .none)
        #expect(reference == CKRecord.Reference(recordID: CKRecord.ID(recordName: "a"), action: .none))
        #expect(reference != CKRecord.Reference(recordID: CKRecord.ID(recordName: "a"), action: .deleteSelf))
    }

    @Test func `spells the current user as the model's empty name`() {
        #expect(CKRecordZone.ID.default.model == ZoneID.default)
        #expect(CKRecordZone.ID(ZoneID(zoneName: "Z")).ownerName == "__defaultOwner__")
        #expect(CKRecordZone.ID(ZoneID(zoneName: "Z", ownerName: "_o")).ownerName == "_o")
        let id = RecordID(zone: ZoneID(zoneName: "Z", ownerName: "_o"), recordName: "r")
        #expect(CKRecord.ID(id).model == id)
    }

    @Test func `of a zone comes with the server's capabilities`() {
        let zone = CKRecordZone(Zone(id: ZoneID(zoneName: "Z"), capabilities: [.atomic, .zoneWideSharing]))
        #expect(zone.zoneID == CKRecordZone.ID(zoneName: "Z"))
        #expect(zone.capabilities == [.atomic, .zoneWideSharing])
        #expect(CKRecordZone(zoneName: "Z").capabilities == [])
        #expect(CKRecordZone.default().zoneID == .default)
    }
}
