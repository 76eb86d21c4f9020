import Foundation
import RecordModel
import Testing

@testable import CloudKit

/// An archive as Apple's framework writes it: made by hand from Apple's names, not by code of ours.
private struct HandmadeArchive {
    /// A value of a property list, in XML.
    indirect enum Part {
        case text(String), integer(Int), real(Double), data([UInt8])
        case object(String, [(String, Part)])
        case list([Part])

        static func zoneID(_ name: String, owner: String = "__defaultOwner__") -> Part {
            .object(
                "CKRecordZoneID",
                [
                    ("ZoneName", .text(name)), ("ownerName", .text(owner)), ("databaseScopeKey", .integer(2)),
                    ("anonymousCKUserID", .text("$null")),
                ]
            )
        }

        static func recordID(_ name: String, zone: String = "Notes") -> Part {
            .object("CKRecordID", [("RecordName", .text(name)), ("ZoneID", .zoneID(zone))])
        }

        static func reference(_ name: String, action: Int = 0) -> Part {
            .object("CKReference", [("recordID", .recordID(name)), ("referenceAction", .integer(action))])
        }

        static func date(_ seconds: Double) -> Part { .object("NSDate", [("NS.time", .real(seconds))]) }
    }

    private var objects = ["<string>$null</string>"]

    /// The archive with one root object.
    static func data(_ root: Part) -> Data { self.data(top: [("root", root)]) }

    /// The archive with some objects at its top, as `encodeSystemFields(with:)` makes it.
    static func data(top: [(String, Part)]) -> Data {
        var archive = HandmadeArchive()
        let keys = top.map { "<key>\($0.0)</key>\(archive.value($0.1))" }.joined()
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>
            <key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict>\(keys)</dict>
            <key>$objects</key><array>\(archive.objects.joined())</array>
            </dict></plist>
            """
        return Data(text.utf8)
    }

    /// Numbers stand where they are, all else is referred to.
    private mutating func value(_ part: Part) -> String {
        switch part {
        case .integer(let number): return "<integer>\(number)</integer>"
        case .real(let number): return "<real>\(number)</real>"
        case .text("$null"): return Self.reference(0)
        case .text(let text): return self.add("<string>\(text)</string>")
        case .data(let bytes): return self.add("<data>\(Data(bytes).base64EncodedString())</data>")
        case .list(let parts):
            let elements = parts.map { self.value($0) }.joined()
            let key = "<key>NS.objects</key><array>\(elements)</array>"
            return self.add("<dict>\(key)\(self.type("NSArray"))</dict>")
        case .object(let name, let parts):
            let keys = parts.map { "<key>\($0.0)</key>\(self.value($0.1))" }.joined()
            return self.add("<dict>\(keys)\(self.type(name))</dict>")
        }
    }

    private mutating func type(_ name: String) -> String {
        let names = "<array><string>\(name)</string><string>NSObject</string></array>"
        let reference = self.add(
            "<dict><key>$classname</key><string>\(name)</string><key>$classes</key>\(names)</dict>"
        )
        return "<key>$class</key>\(reference)"
    }

    private mutating func add(_ object: String) -> String {
        self.objects.append(object)
        return Self.reference(self.objects.count - 1)
    }

    private static func reference(_ number: Int) -> String {
        "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
    }
}

/// What apps have kept from their life on Apple's systems.
@Suite struct AppleArchiveTests {
    private static let record: [(String, HandmadeArchive.Part)] = [
        ("RecordType", .text("Note")), ("RecordID", .recordID("n1")), ("ETag", .text("k3abc")),
        ("RecordCtime", .date(700_000_000.25)), ("RecordMtime", .date(700_000_001)),
        ("CreatorUserRecordID", .recordID("__defaultOwner__", zone: "_defaultZone")),
        ("LastModifiedUserRecordID", .recordID("_you", zone: "_defaultZone")),
        ("ModifiedByDevice", .text("Phone")), ("Permission", .integer(3)),
        ("ParentReference", .reference("list")), ("ShareReference", .reference("share")),
        ("ValueStore", .object("CKRecordValueStore", [("RecordValues", .text("opaque"))])),
    ]

    private func read<Object: NSObject & NSCoding>(_ part: HandmadeArchive.Part) throws -> Object {
        let data = HandmadeArchive.data(part)
        let object = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
        #expect(try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data) is Object)
        return object
    }

    @Test func `IDs and references are read`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)
        let recordID = CKRecord.ID(recordName: "n1", zoneID: zoneID)
        let zoneCopy: CKRecordZone.ID = try self.read(.zoneID("Notes"))
        let recordCopy: CKRecord.ID = try self.read(.recordID("n1"))
        let reference: CKRecord.Reference = try self.read(.reference("n1", action: 1))
        #expect(zoneCopy == zoneID && recordCopy == recordID)
        #expect(reference == CKRecord.Reference(recordID: recordID, action: .deleteSelf))
    }

    @Test func `tokens and cursors are read, for the server to say that they are good no longer`() throws {
        let token: CKServerChangeToken = try self.read(
            .object("CKServerChangeToken", [("ChangeTokenData", .data([1, 2, 3]))])
        )
        #expect(token.bytes == [1, 2, 3])
        let cursor: CKQueryCursor = try self.read(
            .object("CKQueryCursor", [("CursorData", .data([4, 5])), ("ZoneID", .zoneID("Notes"))])
        )
        #expect(cursor.bytes == [4, 5])
    }

    @Test func `a record has its system fields, and no values`() throws {
        let record: CKRecord = try self.read(.object("CKRecord", Self.record))
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: HandmadeArchive.data(top: Self.record))
        unarchiver.requiresSecureCoding = true
        let fromFields = try #require(CKRecord(coder: unarchiver))
        for record in [record, fromFields] {
            #expect(record.recordType == "Note" && record.recordID.recordName == "n1")
            #expect(record.recordID.zoneID.zoneName == "Notes" && record.recordChangeTag == "k3abc")
            #expect(record.creationDate == Date(timeIntervalSinceReferenceDate: 700_000_000.25))
            #expect(record.modificationDate == Date(timeIntervalSinceReferenceDate: 700_000_001))
            #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
            #expect(record.lastModifiedUserRecordID?.recordName == "_you")
            #expect(record.parent?.recordID.recordName == "list")
            #expect(record.share?.recordID.recordName == "share")
            #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
            record["title"] = "t"
            let save = try record.save(policy: .ifServerRecordUnchanged)
            #expect(save.changeTag == "k3abc" && save.parent == .unchanged)
        }
    }

    @Test func `a share has its ID, its root and what everybody may do`() throws {
        let owner: [(String, HandmadeArchive.Part)] = [
            ("ParticipantID", .text("P")), ("Type", .integer(3)), ("Permission", .integer(2)),
            ("AcceptanceStatus", .integer(1)),
            ("UserIdentity", .object("CKUserIdentity", [("UserRecordID", .recordID("_ann"))])),
        ]
        let parts: [(String, HandmadeArchive.Part)] = [
            ("RecordType", .text("cloudkit.share")), ("RecordID", .recordID("share")),
            ("ETag", .text("k4")), ("RootRecordID", .recordID("list")), ("PublicPermission", .integer(2)),
            ("Participants", .list([.object("CKShareParticipant", owner)])),
        ]
        let share: CKShare = try self.read(.object("CKShare", parts))
        #expect(share.recordID.recordName == "share" && share.recordChangeTag == "k4")
        #expect(share.publicPermission == .readOnly && share.url == nil && share.sharing.root == "list")
        #expect(throws: Never.self) { try share.changes() }
        let participant: CKShareParticipant = try self.read(.object("CKShareParticipant", owner))
        #expect(participant.participantID == "P" && participant.role == .privateUser)
        #expect(participant.permission == .readOnly && participant.acceptanceStatus == .pending)
        #expect(participant.userIdentity.userRecordID?.recordName == "_ann")
    }

    @Test func `an array of a type is read, as apps keep what is pending`() throws {
        let list = HandmadeArchive.data(.list([.recordID("a"), .recordID("b")]))
        let ids = try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: CKRecord.ID.self, from: list)
        #expect(ids?.map(\.recordName) == ["a", "b"])
    }

    static let damaged: [[(String, AppleArchiveTests.Damage)]] = [
        [("RecordType", .number), ("RecordID", .text)], [("RecordType", .text), ("RecordID", .text)],
        [("RecordType", .text), ("RecordID", .list)], [("RecordType", .text), ("RecordID", .other)],
        [("RecordType", .list)], [],
    ]
    enum Damage { case number, text, list, other }

    @Test(arguments: damaged)
    func `what is damaged is nothing, and ends nothing`(_ keys: [(String, Damage)]) throws {
        let parts = keys.map { key, damage -> (String, HandmadeArchive.Part) in
            switch damage {
            case .number: (key, .integer(1))
            case .text: (key, .text("Note"))
            case .list: (key, .list([.text("a")]))
            case .other: (key, .zoneID("Notes"))
            }
        }
        #expect(throws: (any Error).self) {
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKRecord.self,
                from: HandmadeArchive.data(.object("CKRecord", parts))
            )
        }
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: HandmadeArchive.data(top: parts))
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        #expect(CKRecord(coder: unarchiver) == nil)
        for name in ["CKRecordID", "CKRecordZoneID", "CKReference", "CKServerChangeToken", "CKQueryCursor"] {
            let data = HandmadeArchive.data(
                .object(name, [("ZoneID", .text("a")), ("recordID", .text("a"))])
            )
            #expect(throws: (any Error).self) {
                _ = try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data)
            }
        }
    }
}
