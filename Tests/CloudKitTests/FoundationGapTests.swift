import CloudKit
import Foundation
import Testing

/// What code of Apple's systems calls and Foundation on Linux lacks.
@Suite struct FoundationGapTests {
    @Test func `defaults take and give values by key-value coding`() throws {
        let name = "tidemark-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        defaults.setValue("v", forKey: "k")
        #expect(defaults.string(forKey: "k") == "v" && defaults.value(forKey: "k") as? String == "v")
        defaults.setValue(Data([1]), forKey: "k")
        #expect(defaults.data(forKey: "k") == Data([1]))
        defaults.setValue(nil, forKey: "k")
        #expect(defaults.object(forKey: "k") == nil && defaults.value(forKey: "k") == nil)
    }

    @Test func `arrays and dictionaries of a class are unarchived`() throws {
        let ids = ["a", "b"].map { CKRecord.ID(recordName: $0) }
        let list = try NSKeyedArchiver.archivedData(withRootObject: ids, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: CKRecord.ID.self, from: list) == ids)
        let some = try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClasses: [CKRecord.ID.self], from: list)
        #expect(some as? [CKRecord.ID] == ids)
        let zones = Dictionary(uniqueKeysWithValues: ids.map { (NSString(string: $0.recordName), $0.zoneID) })
        let table = try NSKeyedArchiver.archivedData(withRootObject: zones, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedDictionary(
            ofKeyClass: NSString.self,
            objectClass: CKRecordZone.ID.self,
            from: table
        )
        #expect(read == zones)
        let any = try NSKeyedUnarchiver.unarchivedDictionary(
            ofKeyClasses: [NSString.self],
            objectClasses: [CKRecordZone.ID.self],
            from: table
        )
        #expect(any?.count == 2 && any?[NSString(string: "a")] as? CKRecordZone.ID == ids[0].zoneID)
        #expect(throws: (any Error).self) {
            try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: CKRecord.ID.self, from: Data([1]))
        }
    }

    static let names: [(given: String?, family: String?, text: String)] = [
        ("Ada", "Lovelace", "Ada Lovelace"), ("Ada", nil, "Ada"), (nil, "Lovelace", "Lovelace"),
        ("小明", "王", "王小明"), ("", nil, ""),
    ]

    @Test(arguments: names)
    func `a name is formatted for people`(given: String?, family: String?, text: String) {
        var name = PersonNameComponents()
        name.givenName = given
        name.familyName = family
        #expect(name.formatted() == text)
        #expect((nil as PersonNameComponents?)?.formatted() == nil)
    }
}
