import CloudKit
import Foundation
import Testing

// Items that the client itself refuses need no server: they show order and form of all callbacks.
@Suite(.timeLimit(.minutes(10))) struct OperationTests {
    private let database = CKContainer.unreachable().privateCloudDatabase
    private let zone = CKRecordZone.ID(zoneName: "zone", ownerName: CKCurrentUserDefaultName)

    @Test func `failed items are reported one by one, and all together to older code alone`() async throws {
        let good = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "good", zoneID: self.zone))
        let operation = CKModifyRecordsOperation(
            recordsToSave: [.refused("bad", in: self.zone), good],
            recordIDsToDelete: [CKRecord.ID(recordName: "old", zoneID: self.zone)]
        )
        operation.database = self.database
        let events = Events()
        func name(_ error: (any Error)?) -> String {
            (error as? CKError).map { "\($0.code.rawValue)" } ?? "none"
        }
        operation.perRecordProgressBlock = { record, _ in
            events.note("progress \(record.recordID.recordName)")
        }
        operation.perRecordCompletionBlock = { _, _ in events.note("must not be called") }
        operation.perRecordSaveBlock = { id, result in
            guard case .failure(let error) = result else { return events.note("saved") }
            events.note("save \(id.recordName) \(name(error))")
        }
        operation.perRecordDeleteBlock = { id, result in
            guard case .failure(let error) = result else { return events.note("deleted") }
            events.note("delete \(id.recordName) \(name(error))")
        }
        operation.modifyRecordsResultBlock = { result in
            guard case .failure(let error) = result else { return events.note("succeeded") }
            events.note("result \(name(error))")
        }
        operation.modifyRecordsCompletionBlock = { saved, deleted, error in
            events.note("completion \(saved?.count ?? -1) \(deleted?.count ?? -1) \(name(error))")
            let errors = (error as? CKError)?.partialErrorsByItemID ?? [:]
            for item in ["bad", "good", "old"] {
                let id = CKRecord.ID(recordName: item, zoneID: CKRecordZone.ID(zoneName: "zone"))
                events.note("  \(item) \(name(errors[id]))")
            }
            if errors.count != 3 { events.note("\(errors.count) errors") }
        }
        await operation.finish()
        #expect(
            events.all == [
                "save bad 12", "save good 22", "delete old 22", "succeeded", "completion 0 0 2", "  bad 12",
                "  good 22", "  old 22",
            ]
        )
    }

    @Test func `older code gets the record with its error`() async {
        let record = CKRecord.refused("bad", in: self.zone)
        let operation = CKModifyRecordsOperation(recordsToSave: [record], recordIDsToDelete: nil)
        operation.database = self.database
        let events = Events()
        operation.perRecordCompletionBlock = { reported, error in
            events.note("\(reported === record) \((error as? CKError)?.code == .invalidArguments)")
        }
        await operation.finish()
        #expect(events.all == ["true true"])
    }

    @Test func `nothing to do succeeds without a server`() async {
        let events = Events()
        let modify = CKModifyRecordsOperation()
        modify.modifyRecordsCompletionBlock = { saved, deleted, error in
            events.note("records \(saved?.count ?? -1) \(deleted?.count ?? -1) \(error == nil)")
        }
        let zones = CKModifyRecordZonesOperation(recordZonesToSave: [], recordZoneIDsToDelete: [])
        zones.modifyRecordZonesCompletionBlock = { saved, deleted, error in
            events.note("zones \(saved?.count ?? -1) \(deleted?.count ?? -1) \(error == nil)")
        }
        let fetch = CKFetchRecordsOperation(recordIDs: [])
        fetch.fetchRecordsCompletionBlock = { events.note("fetch \($0?.count ?? -1) \($1 == nil)") }
        let zoneFetch = CKFetchRecordZonesOperation(recordZoneIDs: [])
        zoneFetch.fetchRecordZonesCompletionBlock = {
            events.note("zone fetch \($0?.count ?? -1) \($1 == nil)")
        }
        for operation in [modify, zones, fetch, zoneFetch] {
            operation.database = self.database
            await operation.finish()
        }
        #expect(events.all == ["records 0 0 true", "zones 0 0 true", "fetch 0 true", "zone fetch 0 true"])
    }

    @Test func `an item that is named twice fails the operation as a whole`() async {
        let id = CKRecord.ID(recordName: "one", zoneID: self.zone)
        let events = Events()
        let lists: [([CKRecord], [CKRecord.ID])] = [
            ([CKRecord(recordType: "Note", recordID: id), CKRecord(recordType: "Note", recordID: id)], []),
            ([CKRecord(recordType: "Note", recordID: id)], [id]),
            ([], [id, id]),
        ]
        for (saves, deletes) in lists {
            let operation = CKModifyRecordsOperation(recordsToSave: saves, recordIDsToDelete: deletes)
            operation.database = self.database
            operation.perRecordSaveBlock = { _, _ in events.note("item") }
            operation.modifyRecordsCompletionBlock = { saved, _, error in
                events.note("\(saved == nil) \((error as? CKError)?.code == .invalidArguments)")
            }
            await operation.finish()
        }
        let zone = CKRecordZone(zoneID: self.zone)
        let zones = CKModifyRecordZonesOperation(recordZonesToSave: [zone, zone])
        zones.database = self.database
        zones.modifyRecordZonesCompletionBlock = { saved, _, error in
            events.note("\(saved == nil) \((error as? CKError)?.code == .invalidArguments)")
        }
        await zones.finish()
        #expect(events.all == Array(repeating: "true true", count: 4))
    }

    @Test func `without a configuration the error says which variable to set`() async {
        // The default container of a process whose environment names none.
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "one")])
        operation.configuration.container = CKContainer(
            identifier: "org.example",
            connection: CKServerConnection(url: "https://127.0.0.1")
        )
        let events = Events()
        operation.fetchRecordsResultBlock = { result in
            guard case .failure(let error as CKError) = result else { return }
            events.note(
                "\(error.code == .badContainer) \(error.localizedDescription.contains("TIDEMARK_URL"))"
            )
        }
        await operation.finish()
        #expect(events.all == ["true true"])
    }

    @Test func `the record of the current user needs a user`() async throws {
        let container = CKContainer(
            identifier: "org.example",
            connection: CKServerConnection(url: "tidemark://127.0.0.1:1")
        )
        #expect(try await container.accountStatus() == .noAccount)
        await #expect { try await container.userRecordID() } throws: { error in
            (error as? CKError)?.code == .notAuthenticated
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct DatabaseMethodTests {
    private let database = CKContainer.unreachable().privateCloudDatabase
    private let zone = CKRecordZone.ID(zoneName: "zone", ownerName: CKCurrentUserDefaultName)

    @Test func `a method for one item reports its own error`() async throws {
        await #expect { try await self.database.save(CKRecord.refused("one")) } throws: { error in
            (error as? CKError)?.code == .invalidArguments
        }
        let events = Events()
        await withCheckedContinuation { continuation in
            self.database.save(CKRecord.refused("one")) { record, error in
                events.note("\(record == nil) \((error as? CKError)?.code == .invalidArguments)")
                continuation.resume()
            }
        }
        #expect(events.all == ["true true"])
    }

    @Test func `a batch returns a result for each item and does not throw for them`() async throws {
        let good = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "good", zoneID: self.zone))
        let old = CKRecord.ID(recordName: "old", zoneID: self.zone)
        let (saveResults, deleteResults) = try await self.database.modifyRecords(
            saving: [.refused("bad", in: self.zone), good],
            deleting: [old]
        )
        #expect(saveResults.count == 2 && deleteResults.count == 1)
        #expect(throws: CKError.self) { try saveResults[good.recordID]?.get() }
        guard case .failure(let error as CKError) = deleteResults[old] else {
            Issue.record("the delete should have failed")
            return
        }
        #expect(error.code == .batchRequestFailed)
        #expect(error.batchCause == .atomicPeer(CKRecord.ID(recordName: "bad", zoneID: self.zone)))
    }

    @Test func `a record that the client refuses fails its peers in the default zone too`() async throws {
        let good = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "good"))
        for database in [self.database, CKContainer.unreachable().publicCloudDatabase] {
            let (results, _) = try await database.modifyRecords(
                saving: [.refused("bad"), good],
                deleting: []
            )
            guard case .failure(CKError.batchRequestFailed)? = results[good.recordID] else {
                Issue.record("\(results)")
                continue
            }
        }
    }

    @Test func `cancelling the task of a method cancels the request`() async {
        let task = Task { try await self.database.record(for: CKRecord.ID(recordName: "one")) }
        task.cancel()
        await #expect { try await task.value } throws: { error in
            (error as? CKError)?.code == .operationCancelled
        }
    }

    @Test func `a request as a whole that fails throws`() async {
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 0.2
        await #expect {
            try await self.database.configuredWith(configuration: configuration) { database in
                try await database.allRecordZones()
            }
        } throws: { error in
            (error as? CKError)?.code == .networkFailure
        }
    }
}
