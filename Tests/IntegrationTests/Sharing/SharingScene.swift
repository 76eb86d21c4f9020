import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Alice, who has a list with a note below it, and Bob, on a server of their own.
struct SharingScene {
    let server: TestServer
    let alice: CKContainer
    let bob: CKContainer
    let zone: CKRecordZone.ID

    static func run(
        _ options: TestServer.Options = .defaults,
        _ body: (SharingScene) async throws -> Void
    ) async throws {
        try await TestServer.runOnChosenEngine(options) { server in
            let alice = try await server.container(for: "alice")
            let zone = try await alice.privateCloudDatabase.save(CKRecordZone(zoneName: "lists"))
            let scene = SharingScene(
                server: server,
                alice: alice,
                bob: try await server.container(for: "bob"),
                zone: zone.zoneID
            )
            let list = CKRecord(recordType: "List", recordID: scene.id("list"))
            list["title"] = "Groceries"
            let note = scene.note("note", below: list.recordID)
            try await alice.privateCloudDatabase.modifyRecords(saving: [list, note], deleting: [])
            try await body(scene)
        }
    }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: self.zone) }

    func note(_ name: String, below parent: CKRecord.ID) -> CKRecord {
        let id = CKRecord.ID(recordName: name, zoneID: parent.zoneID)
        let note = CKRecord(recordType: "Note", recordID: id)
        note.setParent(parent)
        note["text"] = name
        return note
    }

    /// Saves a share of the list together with it.
    @discardableResult
    func shareList(_ prepare: (CKShare) -> Void = { _ in }) async throws -> CKShare {
        let list = try await self.alice.privateCloudDatabase.record(for: self.id("list"))
        let share = CKShare(rootRecord: list)
        share[CKShare.SystemFieldKey.title] = "Alice's list"
        prepare(share)
        let results = try await self.alice.privateCloudDatabase.modifyRecords(
            saving: [list, share],
            deleting: []
        )
        let saved = try results.saveResults[share.recordID]?.get()
        _ = try results.saveResults[list.recordID]?.get()
        return try #require(saved as? CKShare)
    }

    /// Bob joins the share that a URL leads to.
    @discardableResult
    func join(_ url: URL?) async throws -> CKShare {
        let metadata = try await self.bob.shareMetadata(for: #require(url))
        return try await self.bob.accept(metadata)
    }

    func participant(_ container: CKContainer) async throws -> CKShare.Participant {
        try await self.alice.shareParticipant(forUserRecordID: container.userRecordID())
    }
}
