import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// Record names beyond ASCII, from end to end.
@Suite(.timeLimit(.minutes(10))) struct RecordNameTests {
    /// Two are equal as strings, and the last is as long as a name may be.
    static let names = [
        "caf\u{E9}", "cafe\u{301}", "日本語", "👩‍👩‍👧 🌊", "a/b?c=d&e%20\"f\"", "Ω,\u{2126}",
        "\u{200F}שלום \u{202B}مرحبا\u{202C} 1", String(repeating: "🌊", count: 127) + "x",
    ]

    static func bytes(_ names: some Sequence<String>) -> Set<[UInt8]> {
        Set(names.map { Array($0.utf8) })
    }

    @Test func `IDs compare and hash literally, as Apple's do`() throws {
        let ids = Self.names.prefix(2).map { CKRecord.ID(recordName: $0) }
        #expect(ids[0] != ids[1] && Set(ids).count == 2)
        #expect(ids[0] == CKRecord.ID(recordName: "caf\u{E9}"))
        let references = ids.map { CKRecord.Reference(recordID: $0, action: .none) }
        #expect(references[0] != references[1])
        let data = try NSKeyedArchiver.archivedData(withRootObject: ids[1], requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: data) == ids[1])
    }

    @Test func `they are saved, fetched, found, followed, listened to and deleted`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(
                CKQuerySubscription(
                    recordType: "Note",
                    predicate: NSPredicate(value: true),
                    subscriptionID: "notes",
                    options: [.firesOnRecordCreation]
                )
            )
            var notifications = try await desk.otherContainer().listening()
            let records = Self.names.map { desk.record($0, ["title": $0]) }
            let parent = records[0]
            records[1].parent = CKRecord.Reference(record: parent, action: .none)
            let (saved, _) = try await desk.database.modifyRecords(saving: records, deleting: [])
            #expect(saved.count == records.count && saved.values.allSatisfy { (try? $0.get()) != nil })

            var told: [String] = []
            while told.count < records.count, let notification = await notifications.next() {
                let query = try #require(notification as? CKQueryNotification)
                told.append(try #require(query.recordID).recordName)
            }
            #expect(Self.bytes(told) == Self.bytes(Self.names))

            let fetched = try await desk.database.records(for: records.map(\.recordID))
            #expect(fetched.count == records.count)
            for (id, result) in fetched {
                let title = try result.get()["title"] as? String ?? ""
                #expect(Array(title.utf8) == Array(id.recordName.utf8))
            }
            let changes = try await desk.database.recordZoneChanges(inZoneWith: desk.zone, since: nil)
            #expect(
                Self.bytes(changes.modificationResultsByID.keys.map(\.recordName)) == Self.bytes(Self.names)
            )

            for name in Self.names {
                let reference = CKRecord.Reference(recordID: desk.id(name), action: .none)
                let query = CKQuery(
                    recordType: "Note",
                    predicate: NSPredicate(format: "recordID == %@", reference)
                )
                let page = try await desk.database.records(matching: query, inZoneWith: desk.zone)
                #expect(page.matchResults.map { Array($0.0.recordName.utf8) } == [Array(name.utf8)])
            }
            _ = try await desk.database.deleteRecord(withID: desk.id(Self.names[1]))
            #expect(try await desk.database.record(for: desk.id(Self.names[0])).recordID == parent.recordID)
            await expect(.unknownItem) { _ = try await desk.database.record(for: desk.id(Self.names[1])) }
        }
    }

    @Test func `an invalid name is named with its rule, in a save and as an operand`() async throws {
        try await Desk.run { desk in
            let rule = "a record name has 1 to 255 UTF-16 code units, no control characters"
            for name in ["_a", "a\nb", String(repeating: "🌊", count: 128)] {
                let record = desk.record(name, ["title": "t"])
                let saved = await thrown { try await desk.database.save(record) }
                #expect(saved?.code == .invalidArguments)
                let text = saved?.localizedDescription ?? ""
                #expect(text.contains(rule) && !text.contains("\n"), "\(text)")
                #expect(text.contains(name == "a\nb" ? #"'a\u{A}b'"# : "'\(name.prefix(2))"), "\(text)")

                let target = CKRecord.Reference(recordID: desk.id(name), action: .none)
                let referrer = await thrown {
                    try await desk.database.save(desk.record("referrer", ["to": target]))
                }
                #expect(
                    referrer?.localizedDescription.contains(rule) == true,
                    "\(String(describing: referrer))"
                )
                let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "to == %@", target))
                let found = await thrown { _ = try await desk.database.records(matching: query) }
                let found2 = found?.localizedDescription ?? ""
                #expect(found?.code == .invalidArguments && found2.contains(rule), "\(found2)")
                #expect(found2.contains("field 'to' refers to"), "\(found2)")
            }
        }
    }

    @Test func `commands write and read them, as JSON and as CSV`() async throws {
        try await BackupScene.run { scene in
            let records = Self.names.map { scene.record($0, ["text": "old"]) }
            _ = try await scene.database().modifyRecords(saving: records, deleting: [])
            let output = scene.path("out.jsonl")
            let exported = try await scene.records("export", ["--zone", "desk", "--output", output])
            #expect(exported.exitCode == 0, "\(exported.errors)")
            let lines = try String(contentsOfFile: output, encoding: .utf8)
            let changed = try scene.write(
                lines.replacingOccurrences(of: #""old""#, with: #""new""#),
                to: "in.jsonl"
            )
            let imported = try await scene.records("import", [changed, "--json"])
            #expect(
                imported.exitCode == 0 && imported.output.contains(#""changed" : \#(Self.names.count)"#),
                "\(imported.output)"
            )

            let got = try await scene.records("get", Self.names + ["--zone", "desk"])
            #expect(got.exitCode == 0, "\(got.errors)")
            let names = got.objects.compactMap { $0["recordName"] as? String }
            #expect(names.map { Array($0.utf8) } == Self.names.map { Array($0.utf8) })
            #expect(got.output.components(separatedBy: #""new""#).count - 1 == Self.names.count)

            let table = try await scene.records("query", ["--zone", "desk", "--type", "Note", "--csv"])
            #expect(table.exitCode == 0, "\(table.errors)")
            let csv = try scene.write(table.output.replacingOccurrences(of: "new", with: "csv"), to: "in.csv")
            let again = try await scene.records(
                "import",
                [csv, "--type", "Note", "--zone", "desk", "--json"]
            )
            #expect(
                again.exitCode == 0 && again.output.contains(#""changed" : \#(Self.names.count)"#),
                "\(again.errors)\(again.output)"
            )
            let deleted = try await scene.records("delete", [Self.names[0], "--zone", "desk", "--yes"])
            #expect(deleted.exitCode == 0, "\(deleted.errors)")
            let rest = try await scene.names()
            #expect(Self.bytes(rest) == Self.bytes(Self.names.dropFirst()))
        }
    }
}
