import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// What texts of errors say to people.
@Suite(.timeLimit(.minutes(10))) struct ErrorTextTests {
    private func text(_ body: () async throws -> Void) async -> String {
        await thrown(by: body)?.localizedDescription ?? ""
    }

    @Test func `what is missing is named, and where it was looked for`() async throws {
        try await SharingScene.run { scene in
            let database = scene.alice.privateCloudDatabase
            let missing = await self.text { _ = try await database.record(for: scene.id("missing")) }
            #expect(missing == "Record not found: 'missing' in zone 'lists' of the private database")
            let nowhere = CKRecordZone.ID(zoneName: "nowhere")
            let zone = await self.text { _ = try await database.recordZone(for: nowhere) }
            #expect(zone == "Zone Not Found: zone 'nowhere' of the private database")
            let record = CKRecord(
                recordType: "Note",
                recordID: CKRecord.ID(recordName: "a", zoneID: nowhere)
            )
            #expect(await self.text { try await database.save(record) } == zone)
            let changes = await self.text {
                _ = try await database.recordZoneChanges(inZoneWith: nowhere, since: nil)
            }
            #expect(changes == zone)
            let subscription = await self.text { _ = try await database.subscription(for: "none") }
            #expect(subscription == "Subscription not found: 'none' in the private database")
            let owner = try await scene.alice.userRecordID().recordName
            let theirs = CKRecordZone.ID(zoneName: "lists", ownerName: owner)
            let shared = await self.text {
                _ = try await scene.bob.sharedCloudDatabase.recordZone(for: theirs)
            }
            #expect(shared == "Zone Not Found: zone 'lists' of \(owner) of the shared database")
        }
    }

    @Test func `a type and a field that were never saved say how they come`() async throws {
        try await Desk.run { desk in
            let query = CKQuery(recordType: "Nothing", predicate: NSPredicate(value: true))
            let type = await self.text { _ = try await desk.database.records(matching: query) }
            #expect(type.hasPrefix("Did not find record type: Nothing (in development a type comes with"))
            try await desk.database.save(desk.record("a", ["title": "t"]))
            let other = CKQuery(recordType: "Note", predicate: NSPredicate(format: "priority > 3"))
            let field = await self.text { _ = try await desk.database.records(matching: other) }
            #expect(field.hasPrefix("Unknown field 'priority' (in development a field comes with"))
        }
    }

    @Test func `a record that is too large says so, and not that its request is`() async throws {
        try await Desk.run { desk in
            for size in [1_500_000, 2_500_000] {
                let large = desk.record("large", ["text": String(repeating: "x", count: size)])
                let error = await thrown { try await desk.database.save(large) }
                #expect(error?.code == .limitExceeded)
                #expect(error?.localizedDescription.hasPrefix("record too large: ") == true)
            }
            let half = String(repeating: "x", count: 900_000)
            let three = ["a", "b", "c"].map { desk.record($0, ["text": half]) }
            let error = await thrown {
                _ = try await desk.database.modifyRecords(saving: three, deleting: [])
            }
            #expect(error?.code == .limitExceeded)
            #expect(error?.localizedDescription.hasPrefix("Your request is ") == true)
        }
    }
}
