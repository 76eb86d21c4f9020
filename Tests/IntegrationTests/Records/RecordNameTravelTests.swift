import CloudKit
import Foundation
import TestSupport
import Testing

/// Record names beyond ASCII in what leaves a store and comes back.
@Suite(.timeLimit(.minutes(10))) struct RecordNameTravelTests {
    private static let names = RecordNameTests.names

    /// Saves a record of each name, each the child of the one before it.
    private static func fill(_ scene: BackupScene) async throws {
        let records = Self.names.map { scene.record($0, ["text": $0]) }
        for (parent, child) in zip(records, records.dropFirst()) { child.setParent(parent) }
        let (saved, _) = try await scene.database().modifyRecords(saving: records, deleting: [])
        for result in saved.values { _ = try result.get() }
    }

    /// Expects each record, with its own text and parent.
    private static func check(
        _ database: CKDatabase,
        _ scene: BackupScene,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let ids = Self.names.map { scene.record($0).recordID }
        let records = try await database.records(for: ids)
        #expect(records.count == ids.count, sourceLocation: location)
        for (index, id) in ids.enumerated() {
            let record = try records[id]?.get()
            let text = record?["text"] as? String ?? ""
            #expect(Array(text.utf8) == Array(Self.names[index].utf8), sourceLocation: location)
            let parent = index == 0 ? nil : ids[index - 1]
            #expect(record?.parent?.recordID == parent, sourceLocation: location)
        }
        var found: [String] = []
        let changes = try await database.recordZoneChanges(inZoneWith: scene.zone, since: nil)
        for id in changes.modificationResultsByID.keys { found.append(id.recordName) }
        #expect(
            RecordNameTests.bytes(found) == RecordNameTests.bytes(Self.names),
            sourceLocation: location
        )
    }

    /// Changes all records, and undoes that.
    private static func undo(_ scene: BackupScene) async throws {
        try await scene.server.administer(
            ["container", "history", BackupScene.containerID, "--days", "7", "--yes"]
        )
        let database = scene.database("undo")
        let ids = Self.names.map { scene.record($0).recordID }
        let records = try await database.records(for: ids).values.map { try $0.get() }
        for record in records { record["text"] = "other" }
        _ = try await database.modifyRecords(saving: records, deleting: [])
        let zone = scene.place() + ["--zone", scene.zone.zoneName]
        let log = try await ChildProcess.run(ChildProcess.tidemark, ["zone", "log", "--json"] + zone)
        let positions = log.objects.compactMap { $0["position"] as? Int }
        let first = try #require(positions.min(), "\(log.errors)")
        let logged = log.objects.compactMap { $0["recordName"] as? String }
        #expect(RecordNameTests.bytes(logged) == RecordNameTests.bytes(Self.names))
        let undone = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["zone", "undo", "--to", "\(first - 1)", "--yes", "--json"] + zone
        )
        #expect(undone.output.contains(#""changed" : \#(Self.names.count)"#), "\(undone)")
    }

    @Test func `they come back from a backup, and by an undo`() async throws {
        try await BackupScene.run { scene in
            try await Self.fill(scene)
            try await Self.undo(scene)
            try await Self.check(scene.database(), scene)
            let backup = try await scene.backUp(to: "backup")
            #expect(backup.exitCode == 0, "\(backup.errors)")
            try await scene.loseAndRestore("backup")
            try await Self.check(scene.database("restored"), scene)
        }
    }

    @Test func `they move into PostgreSQL and back, with an undo and a listing there`() async throws {
        try await MigrateScene.run { scene in
            let (backup, server) = (scene.backup, scene.backup.server)
            try await Self.fill(backup)
            for isThere in [true, false] {
                await server.end(SIGTERM)
                let moved = try await isThere ? scene.there() : scene.back()
                #expect(moved.exitCode == 0, "\(moved.errors)")
                try await server.start()
                try await Self.check(backup.database("\(isThere)"), backup)
                guard isThere else { continue }
                try await Self.undo(backup)
                try await Self.check(backup.database("undone"), backup)
                let output = backup.path("there.tidemark")
                let bundle = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    ["zone", "export", "--zone", "desk", "--output", output] + backup.place()
                )
                #expect(bundle.exitCode == 0, "\(bundle.errors)")
                let imported = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    ["zone", "import", output, "--to", "copy"] + backup.place()
                )
                #expect(imported.exitCode == 0, "\(imported.errors)")
                let listed = try await backup.records(
                    "query",
                    ["--zone", "copy", "--type", "Note", "--json"]
                )
                let names = listed.objects.compactMap { $0["recordName"] as? String }
                #expect(RecordNameTests.bytes(names) == RecordNameTests.bytes(Self.names), "\(listed.errors)")
            }
        }
    }

    @Test func `they travel in a bundle, and roots of shares are reached by their URLs`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene.source)
            let database = scene.source.database()
            let bob = try await scene.newUser("bob")
            for name in Self.names {
                let root = CKRecord(
                    recordType: "List",
                    recordID: .init(recordName: name, zoneID: .init(zoneName: "lists"))
                )
                if name == Self.names[0] { try await database.save(CKRecordZone(zoneName: "lists")) }
                let share = CKShare(rootRecord: root)
                share.publicPermission = .readOnly
                let saved = try await database.modifyRecords(saving: [root, share], deleting: [])
                _ = try saved.saveResults[root.recordID]?.get()
                let url = try #require((try saved.saveResults[share.recordID]?.get() as? CKShare)?.url)
                let metadata = try await bob.shareMetadata(for: url)
                let named = metadata.hierarchicalRootRecordID?.recordName ?? ""
                #expect(Array(named.utf8) == Array(name.utf8))
                _ = try await bob.accept(metadata)
                let owner = metadata.share.recordID.zoneID
                let seen = try await bob.sharedCloudDatabase.record(
                    for: .init(recordName: name, zoneID: owner)
                )
                #expect(Array(seen.recordID.recordName.utf8) == Array(name.utf8))
            }
            let imported = try await scene.importBundle([try await scene.bundle()])
            #expect(imported.exitCode == 0, "\(imported.errors)")
            try await Self.check(scene.container(for: "alice").privateCloudDatabase, scene.source)
        }
    }
}
