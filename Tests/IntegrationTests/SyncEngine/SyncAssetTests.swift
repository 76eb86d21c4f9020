import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Files of records that engines send and fetch.
struct SyncAssetTests {
    /// An app that has files in its records, and keeps what it was told.
    private final class Album: CKSyncEngineDelegate {
        struct Kept: Sendable {
            var files: [CKRecord.ID: [URL]] = [:]
            var known: [CKRecord.ID: CKRecord] = [:]
            var fetched: [CKRecord] = []
            var failures: [CKError.Code] = []
        }

        let kept = Mutex(Kept())

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            self.kept.withLock { kept in
                switch event {
                case .fetchedRecordZoneChanges(let event): kept.fetched += event.modifications.map(\.record)
                case .sentRecordZoneChanges(let event):
                    for record in event.savedRecords { kept.known[record.recordID] = record }
                    kept.failures += event.failedRecordSaves.map(\.error.code)
                default: break
                }
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            let changes = syncEngine.state.pendingRecordZoneChanges.filter {
                context.options.scope.contains($0)
            }
            return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
                self.kept.withLock { kept in
                    guard let files = kept.files[id] else { return nil }
                    let record = kept.known[id] ?? CKRecord(recordType: "Photo", recordID: id)
                    record["first"] = files.first.map { CKAsset(fileURL: $0) }
                    record["rest"] = files.dropFirst().map { CKAsset(fileURL: $0) }
                    return record
                }
            }
        }

        func engine(_ database: CKDatabase) -> CKSyncEngine {
            var configuration = CKSyncEngine.Configuration(
                database: database,
                stateSerialization: nil,
                delegate: self
            )
            configuration.automaticallySync = false
            return CKSyncEngine(configuration)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an engine brings the files of records to the server, and another device's engine fetches them`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let (here, there) = (Album(), Album())
            let sender = here.engine(desk.database)
            let receiver = there.engine(try await desk.device("there"))
            let ids = (0..<3).map { desk.id("photo\($0)") }
            func set(_ version: Int) throws {
                for (number, id) in ids.enumerated() {
                    let urls = try (0..<3).map { file in
                        let seed = UInt64(100 * version + 10 * number + file)
                        return try files.make("f\(seed)", bytes: 400_000 + file, seed: seed)
                    }
                    here.kept.withLock { $0.files[id] = urls }
                }
                sender.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
            }
            for version in 1...2 {
                try set(version)
                try await sender.sendChanges()
                try await receiver.fetchChanges()
                let fetched = there.kept.withLock { kept in
                    defer { kept.fetched = [] }
                    return kept.fetched
                }
                #expect(Set(fetched.map(\.recordID)) == Set(ids))
                for record in fetched {
                    let urls = try #require(here.kept.withLock { $0.files[record.recordID] })
                    let contents = try [record.file("first")] + record.files("rest")
                    #expect(try contents == urls.map { try Data(contentsOf: $0) })
                }
            }
            #expect(here.kept.withLock { $0.failures } == [])
            #expect(sender.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a file that is not there fails its record alone, and the engine goes on with the others`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let album = Album()
            let engine = album.engine(desk.database)
            let good = try files.make("good", bytes: 1_000)
            album.kept.withLock {
                $0.files = [desk.id("good"): [good], desk.id("bad"): [files.url("none")]]
            }
            engine.state.add(pendingRecordZoneChanges: [
                .saveRecord(desk.id("bad")), .saveRecord(desk.id("good")),
            ])
            try? await engine.sendChanges()
            #expect(album.kept.withLock { $0.failures } == [.assetFileNotFound])
            #expect(
                try await desk.database.record(for: desk.id("good")).file("first") == Data(contentsOf: good)
            )
            #expect(
                engine.state.pendingRecordZoneChanges.isEmpty
                    || !engine.state.pendingRecordZoneChanges.contains(.saveRecord(desk.id("good")))
            )
        }
    }
}
