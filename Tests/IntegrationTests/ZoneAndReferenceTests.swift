import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Zones, references between records, and what a deletion takes with it.
struct ZoneAndReferenceTests {
    @Test(.timeLimit(.minutes(10)))
    func `zones are created, listed, fetched and deleted with everything in them`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("a"))
            let other = try await desk.database.save(CKRecordZone(zoneName: "other"))
            let names = try await desk.database.allRecordZones().map(\.zoneID.zoneName).sorted()
            #expect(names == ["_defaultZone", "desk", "other"])
            #expect(other.capabilities.contains(.atomic))

            try await desk.database.deleteRecordZone(withID: desk.zone)
            let fetch = await thrown { _ = try await desk.database.record(for: desk.id("a")) }
            #expect(fetch?.code == .zoneNotFound)
            let save = await thrown { try await desk.database.save(desk.record("b")) }
            #expect(save?.code == .zoneNotFound)

            // The name again is another zone.
            try await desk.database.save(CKRecordZone(zoneID: desk.zone))
            let again = await thrown { _ = try await desk.database.record(for: desk.id("a")) }
            #expect(again?.code == .unknownItem)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an encryption scope is fixed when a zone is created, and permits zone-wide shares only`()
        async throws
    {
        try await Desk.run { desk in
            let sealed = CKRecordZone(zoneName: "sealed")
            sealed.encryptionScope = .perZone
            let saved = try await desk.database.save(sealed)
            #expect(saved.encryptionScope == .perZone)
            #expect(saved.capabilities == [.fetchChanges, .atomic, .zoneWideSharing])
            try await desk.server.restart()
            let fetched = try await desk.database.recordZone(for: sealed.zoneID)
            #expect(fetched.encryptionScope == .perZone)
            #expect(try await desk.database.recordZone(for: desk.zone).encryptionScope == .perRecord)
            try await desk.database.save(sealed)
            await expect(.serverRejectedRequest) {
                try await desk.database.save(CKRecordZone(zoneID: sealed.zoneID))
            }
            let other = CKRecordZone(zoneID: desk.zone)
            other.encryptionScope = .perZone
            await expect(.serverRejectedRequest) { try await desk.database.save(other) }

            let id = CKRecord.ID(recordName: "list", zoneID: sealed.zoneID)
            let list = CKRecord(recordType: "List", recordID: id)
            let share = CKShare(rootRecord: list)
            let refused = try await desk.database.modifyRecords(
                saving: [list, share],
                deleting: [],
                atomically: false
            )
            let error = refused.saveResults[share.recordID]?.cloudKitError
            #expect(error?.code == .serverRejectedRequest)
            #expect(error?.localizedDescription.contains("share the zone as a whole") == true)
            let whole = try await desk.database.save(CKShare(recordZoneID: sealed.zoneID))
            #expect((whole as? CKShare)?.url != nil)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `deleting a record deletes those that refer to it with deleteSelf, and theirs`() async throws {
        try await Desk.run { desk in
            let root = desk.record("root")
            let child = desk.record("child")
            child["of"] = CKRecord.Reference(record: root, action: .deleteSelf)
            let grandchild = desk.record("grandchild")
            grandchild["of"] = CKRecord.Reference(record: child, action: .deleteSelf)
            let loose = desk.record("loose")
            loose["of"] = CKRecord.Reference(record: root, action: .none)
            _ = try await desk.database.modifyRecords(saving: [root, child, grandchild, loose], deleting: [])
            try await desk.database.deleteRecord(withID: root.recordID)
            for name in ["root", "child", "grandchild"] {
                let error = await thrown { _ = try await desk.database.record(for: desk.id(name)) }
                #expect(error?.code == .unknownItem)
            }
            _ = try await desk.database.record(for: desk.id("loose"))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a reference to what is absent, and one into another zone, is refused`() async throws {
        try await Desk.run { desk in
            let dangling = desk.record("a")
            dangling["of"] = CKRecord.Reference(recordID: desk.id("absent"), action: .deleteSelf)
            await expect(.referenceViolation) { try await desk.database.save(dangling) }

            try await desk.database.save(CKRecordZone(zoneName: "other"))
            let elsewhere = CKRecord.ID(recordName: "x", zoneID: CKRecordZone.ID(zoneName: "other"))
            let crossing = desk.record("b")
            crossing["of"] = CKRecord.Reference(recordID: elsewhere, action: .none)
            await expect(.invalidArguments) { try await desk.database.save(crossing) }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a parent stays while it has children`() async throws {
        try await Desk.run { desk in
            let parent = desk.record("parent")
            let child = desk.record("child")
            child.setParent(parent)
            _ = try await desk.database.modifyRecords(saving: [parent, child], deleting: [])
            #expect(
                try await desk.database.record(for: desk.id("child")).parent?.recordID == desk.id("parent")
            )
            let error = await thrown { try await desk.database.deleteRecord(withID: desk.id("parent")) }
            #expect(error?.code == .referenceViolation)
            let both = try await desk.database.modifyRecords(
                saving: [],
                deleting: [desk.id("child"), desk.id("parent")]
            )
            #expect(both.deleteResults.values.allSatisfy { $0.cloudKitError == nil })
        }
    }
}
