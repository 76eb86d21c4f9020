import Foundation
import Testing

@testable import CloudKit

private final class Nobody: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}

struct SyncEnginePreconditionTests {
    @Test func `an engine of a public database stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let database = CKContainer(identifier: "iCloud.org.example").publicCloudDatabase
            _ = CKSyncEngine(.init(database: database, stateSerialization: nil, delegate: Nobody()))
        }
    }

    @Test func `an engine says what it is and what it has to send`() async {
        let delegate = Nobody()
        var configuration = CKSyncEngine.Configuration(
            database: CKContainer(identifier: "iCloud.org.example").privateCloudDatabase,
            stateSerialization: nil,
            delegate: delegate
        )
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(CKRecord.ID(recordName: "a"))])
        #expect(
            engine.description
                == "<CKSyncEngine: private database of iCloud.org.example, pending: 0 zones, 1 records>"
        )
    }
}
