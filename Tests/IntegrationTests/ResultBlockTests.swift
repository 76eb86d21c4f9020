import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// What the blocks for a whole operation are told when only items failed.
@Suite(.timeLimit(.minutes(10))) struct ResultBlockTests {
    /// What the blocks of an operation were told, as codes.
    private final class Log: Sendable {
        private let lines = Collected<String>()

        var all: [String] { self.lines.values }

        func item<Value>(_ result: Result<Value, any Error>) {
            self.lines.append("item \(result.cloudKitError?.code.rawValue ?? 0)")
        }

        func end(_ result: Result<Void, any Error>) {
            self.lines.append("end \(result.cloudKitError?.code.rawValue ?? 0)")
        }

        func older(_ error: (any Error)?) {
            self.lines.append("older \((error as? CKError)?.code.rawValue ?? 0)")
        }
    }

    private typealias Case = (operation: CKOperation, log: Log, expected: [String])

    @Test func `result blocks of all operations succeed when only items failed`() async throws {
        try await SharingScene.run { scene in
            let database = scene.alice.privateCloudDatabase
            let cases =
                [self.fetchRecords(scene), self.modifyRecords(scene), self.fetchZones(), self.modifyZones()]
                + [
                    self.changes(), self.fetchSubscriptions(), self.modifySubscriptions(),
                    self.participants(),
                ]
                + [try self.metadata(scene), try self.access(scene), try await self.accept(scene)]
            for (operation, log, expected) in cases {
                operation.configuration.container = scene.bob
                (operation as? CKDatabaseOperation)?.database = database
                await withCheckedContinuation { continuation in
                    operation.completionBlock = { continuation.resume() }
                    operation.start()
                }
                #expect(log.all == expected, "\(type(of: operation))")
            }
        }
    }

    // MARK: Records, zones, subscriptions

    private func fetchRecords(_ scene: SharingScene) -> Case {
        let log = Log()
        let operation = CKFetchRecordsOperation(recordIDs: [scene.id("missing")])
        operation.perRecordResultBlock = { log.item($1) }
        operation.fetchRecordsResultBlock = { log.end($0) }
        operation.fetchRecordsCompletionBlock = { log.older($1) }
        return (operation, log, ["item 11", "end 0", "older 2"])
    }

    private func modifyRecords(_ scene: SharingScene) -> Case {
        let log = Log()
        let taken = CKRecord(recordType: "Note", recordID: scene.id("note"))
        let operation = CKModifyRecordsOperation(recordsToSave: [taken])
        operation.perRecordSaveBlock = { log.item($1) }
        operation.modifyRecordsResultBlock = { log.end($0) }
        operation.modifyRecordsCompletionBlock = { log.older($2) }
        return (operation, log, ["item 14", "end 0", "older 2"])
    }

    private func fetchZones() -> Case {
        let log = Log()
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: [CKRecordZone.ID(zoneName: "missing")])
        operation.perRecordZoneResultBlock = { log.item($1) }
        operation.fetchRecordZonesResultBlock = { log.end($0) }
        operation.fetchRecordZonesCompletionBlock = { log.older($1) }
        return (operation, log, ["item 26", "end 0", "older 2"])
    }

    private func modifyZones() -> Case {
        let log = Log()
        let operation = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone.default()])
        operation.perRecordZoneSaveBlock = { log.item($1) }
        operation.modifyRecordZonesResultBlock = { log.end($0) }
        operation.modifyRecordZonesCompletionBlock = { log.older($2) }
        return (operation, log, ["item 12", "end 0", "older 2"])
    }

    private func changes() -> Case {
        let log = Log()
        let zone = CKRecordZone.ID(zoneName: "missing")
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone])
        operation.recordZoneFetchResultBlock = { log.item($1) }
        operation.fetchRecordZoneChangesResultBlock = { log.end($0) }
        operation.fetchRecordZoneChangesCompletionBlock = { log.older($0) }
        return (operation, log, ["item 26", "end 0", "older 2"])
    }

    private func fetchSubscriptions() -> Case {
        let log = Log()
        let operation = CKFetchSubscriptionsOperation(subscriptionIDs: ["missing"])
        operation.perSubscriptionResultBlock = { log.item($1) }
        operation.fetchSubscriptionsResultBlock = { log.end($0) }
        operation.fetchSubscriptionCompletionBlock = { log.older($1) }
        return (operation, log, ["item 11", "end 0", "older 2"])
    }

    private func modifySubscriptions() -> Case {
        let log = Log()
        let operation = CKModifySubscriptionsOperation(subscriptionIDsToDelete: ["missing"])
        operation.perSubscriptionDeleteBlock = { log.item($1) }
        operation.modifySubscriptionsResultBlock = { log.end($0) }
        operation.modifySubscriptionsCompletionBlock = { log.older($2) }
        return (operation, log, ["item 11", "end 0", "older 2"])
    }

    // MARK: Shares

    private func participants() -> Case {
        let log = Log()
        let nobody = CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: "_nobody"))
        let operation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [nobody])
        operation.perShareParticipantResultBlock = { log.item($1) }
        operation.fetchShareParticipantsResultBlock = { log.end($0) }
        operation.fetchShareParticipantsCompletionBlock = { log.older($0) }
        return (operation, log, ["item 11", "end 0", "older 2"])
    }

    private func metadata(_ scene: SharingScene) throws -> Case {
        let log = Log()
        let operation = CKFetchShareMetadataOperation(shareURLs: [try self.nowhere(scene)])
        operation.perShareMetadataResultBlock = { log.item($1) }
        operation.fetchShareMetadataResultBlock = { log.end($0) }
        operation.fetchShareMetadataCompletionBlock = { log.older($0) }
        return (operation, log, ["item 11", "end 0", "older 2"])
    }

    private func access(_ scene: SharingScene) throws -> Case {
        let log = Log()
        let operation = CKShareRequestAccessOperation(shareURLs: [try self.nowhere(scene)])
        operation.perShareAccessRequestResultBlock = { log.item($1) }
        operation.shareAccessRequestResultBlock = { log.end($0) }
        return (operation, log, ["item 11", "end 0"])
    }

    /// Joins a share that was deleted meanwhile.
    private func accept(_ scene: SharingScene) async throws -> Case {
        let url = try #require(try await scene.shareList { $0.publicPermission = .readOnly }.url)
        let metadata = try await scene.bob.shareMetadata(for: url)
        try await scene.alice.privateCloudDatabase.deleteRecord(withID: metadata.share.recordID)
        let log = Log()
        let operation = CKAcceptSharesOperation(shareMetadatas: [metadata])
        operation.perShareResultBlock = { log.item($1) }
        operation.acceptSharesResultBlock = { log.end($0) }
        operation.acceptSharesCompletionBlock = { log.older($0) }
        return (operation, log, ["item 11", "end 0", "older 2"])
    }

    private func nowhere(_ scene: SharingScene) throws -> URL {
        try #require(URL(string: scene.server.url + "/share/nothing"))
    }
}
