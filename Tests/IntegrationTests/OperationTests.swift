import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

// Operations and the methods of databases against the real server, over TLS.

private final class Events: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { self.lines.withLock { $0 } }
    func note(_ line: String) { self.lines.withLock { $0.append(line) } }
}

extension CKDatabase {
    /// Runs an operation on this database and waits until it has finished.
    fileprivate func finish(_ operation: CKDatabaseOperation) async {
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            self.add(operation)
        }
    }
}

private func code(_ error: (any Error)?) -> CKError.Code? { (error as? CKError)?.code }

private func code<Value>(_ result: Result<Value, any Error>?) -> CKError.Code? {
    guard case .failure(let error) = result else { return nil }
    return code(error)
}

private let zoneID = CKRecordZone.ID(zoneName: "Notes")

private func id(_ name: String, in zone: CKRecordZone.ID = zoneID) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: zone)
}

private func note(_ name: String, in zone: CKRecordZone.ID = zoneID, title: String = "title") -> CKRecord {
    let record = CKRecord(recordType: "Note", recordID: id(name, in: zone))
    record["title"] = title
    record["body"] = "body"
    return record
}

// SAFETY: its one property of its own is behind a mutex; the rest is the operation's.
private final class AllZones: CKFetchRecordZonesOperation, @unchecked Sendable {
    let names = Mutex<[String]>([])

    override init() {
        super.init()
        self.perRecordZoneResultBlock = { [unowned self] id, _ in
            self.names.withLock { $0.append(id.zoneName) }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct OperationTests {
    /// A private database with the zone of the tests.
    private func withDatabase(
        _ body: (CKDatabase, CKContainer, TestServer) async throws -> Void
    ) async throws {
        try await TestServer.runOnChosenEngine { server in
            let container = try await server.container(for: "alice")
            try await container.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            try await body(container.privateCloudDatabase, container, server)
        }
    }

    @Test func `saves and deletes are reported one by one, then all together`() async throws {
        try await self.withDatabase { database, _, _ in
            try await database.save(note("old"))
            let record = note("new")
            let operation = CKModifyRecordsOperation(recordsToSave: [record], recordIDsToDelete: [id("old")])
            let events = Events()
            operation.perRecordProgressBlock = { events.note("progress \($0.recordID.recordName) \($1)") }
            operation.perRecordSaveBlock = { id, result in
                events.note("saved \(id.recordName) \((try? result.get()) === record)")
            }
            operation.perRecordDeleteBlock = { events.note("deleted \($0.recordName) \(code($1) == nil)") }
            operation.modifyRecordsResultBlock = { events.note("result \(code($0) == nil)") }
            operation.modifyRecordsCompletionBlock = { saved, deleted, error in
                events.note("completion \(saved?.count ?? -1) \(deleted?.count ?? -1) \(error == nil)")
            }
            await database.finish(operation)
            #expect(
                events.all == [
                    "progress new 1.0", "saved new true", "deleted old true", "result true",
                    "completion 1 1 true",
                ]
            )
            #expect(record.recordChangeTag != nil && record.creationDate != nil)
            #expect(record.changedKeys().isEmpty)
        }
    }

    @Test func `a conflict carries three records, in the batch and alone`() async throws {
        try await self.withDatabase { database, _, _ in
            try await database.save(note("one", title: "first"))
            let mine = try await database.record(for: id("one"))
            let theirs = try await database.record(for: id("one"))
            theirs["title"] = "theirs"
            try await database.save(theirs)
            mine["title"] = "mine"
            await #expect {
                try await database.save(mine)
            } throws: { thrown in
                let error = thrown as? CKError
                return error?.code == .serverRecordChanged && error?.serverRecord?["title"] == "theirs"
                    && error?.clientRecord?["title"] == "mine" && error?.ancestorRecord?["title"] == "first"
            }
            let (results, _) = try await database.modifyRecords(saving: [mine], deleting: [])
            #expect(code(results[id("one")]) == .serverRecordChanged)
            let (forced, _) = try await database.modifyRecords(
                saving: [mine],
                deleting: [],
                savePolicy: .changedKeys
            )
            #expect(try forced[id("one")]?.get()["title"] == "mine")
        }
    }

    @Test(arguments: [true, false])
    func `one conflict fails an atomic zone, and only itself otherwise`(isAtomic: Bool) async throws {
        try await self.withDatabase { database, _, _ in
            try await database.save(note("taken"))
            let operation = CKModifyRecordsOperation(recordsToSave: [note("taken"), note("innocent")])
            operation.isAtomic = isAtomic
            let failure = Mutex<CKError?>(nil)
            let succeeds = Mutex(false)
            operation.modifyRecordsResultBlock = { result in
                if case .success = result { succeeds.withLock { $0 = true } }
            }
            operation.modifyRecordsCompletionBlock = { _, _, error in
                failure.withLock { $0 = error as? CKError }
            }
            await database.finish(operation)
            #expect(succeeds.withLock { $0 }, "only items failed")
            let error = try #require(failure.withLock { $0 })
            #expect(error.code == .partialFailure)
            let errors = try #require(error.partialErrorsByItemID)
            #expect(code(errors[id("taken")]) == .serverRecordChanged)
            #expect(code(errors[id("innocent")]) == (isAtomic ? .batchRequestFailed : nil))
            if isAtomic {
                #expect((errors[id("innocent")] as? CKError)?.batchCause == .atomicPeer(id("taken")))
            }
            let found = try await database.records(for: [id("innocent")])
            #expect(code(found[id("innocent")]) == (isAtomic ? .unknownItem : nil))
        }
    }

    @Test func `a fetch returns the desired keys, each record once, and what is missing`() async throws {
        try await self.withDatabase { database, _, _ in
            try await database.save(note("one"))
            let nowhere = id("one", in: CKRecordZone.ID(zoneName: "Nowhere"))
            let operation = CKFetchRecordsOperation(recordIDs: [id("one"), id("missing"), id("one"), nowhere])
            operation.desiredKeys = ["title"]
            let events = Events()
            operation.perRecordResultBlock = { id, result in
                let keys = (try? result.get())?.allKeys() ?? []
                events.note("\(id.zoneID.zoneName)/\(id.recordName) \(keys) \(code(result)?.rawValue ?? 0)")
            }
            operation.fetchRecordsCompletionBlock = { records, error in
                events.note("completion \(records?.count ?? -1) \(code(error)?.rawValue ?? 0)")
            }
            await database.finish(operation)
            #expect(
                events.all.dropLast().sorted() == [
                    "Notes/missing [] 11", "Notes/one [\"title\"] 0", "Nowhere/one [] 26",
                ]
            )
            #expect(events.all.last == "completion 1 2")
            await #expect { try await database.record(for: id("missing")) } throws: {
                code($0) == .unknownItem
            }
        }
    }

    @Test func `zones are created, listed by a subclass's factory, and deleted`() async throws {
        try await self.withDatabase { database, _, _ in
            let other = CKRecordZone(zoneName: "Other")
            let operation = CKModifyRecordZonesOperation(
                recordZonesToSave: [other],
                recordZoneIDsToDelete: [zoneID]
            )
            let events = Events()
            operation.modifyRecordZonesCompletionBlock = { saved, deleted, error in
                events.note("\(saved?.map(\.zoneID.zoneName) ?? []) \(deleted?.count ?? -1) \(error == nil)")
            }
            await database.finish(operation)
            #expect(events.all == ["[\"Other\"] 1 true"])
            let all = AllZones.fetchAllRecordZonesOperation()
            await database.finish(all)
            #expect(all.names.withLock { $0.sorted() } == ["Other", "_defaultZone"])
            #expect(try await database.allRecordZones().count == 2)
            #expect(try await database.deleteRecordZone(withID: zoneID) == zoneID, "absent already")
            #expect(try await database.recordZone(for: other.zoneID).capabilities.contains(.atomic))
            let results = try await database.recordZones(for: [other.zoneID, zoneID])
            #expect(results.count == 2 && code(results[zoneID]) == .zoneNotFound)
        }
    }

    @Test func `the signed-in user has a status, an ID and a record`() async throws {
        try await self.withDatabase { database, container, server in
            #expect(try await container.accountStatus() == .available)
            let userID = try await container.userRecordID()
            let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
            let events = Events()
            operation.perRecordResultBlock = { id, result in
                events.note("\(id == userID) \((try? result.get())?.recordType ?? "none")")
            }
            await database.finish(operation)
            #expect(events.all == ["true Users"])
            let nobody = try await server.anonymousContainer()
            #expect(try await nobody.accountStatus() == .noAccount)
            await #expect { try await nobody.privateCloudDatabase.allRecordZones() } throws: {
                code($0) == .notAuthenticated
            }
            var connection = try await server.connection(for: "alice")
            connection.token = "wrong"
            let wrong = CKContainer(identifier: TestServer.defaultContainerIdentifier, connection: connection)
            #expect(try await wrong.accountStatus() == .noAccount)
            await #expect { try await wrong.privateCloudDatabase.allRecordZones() } throws: {
                code($0) == .notAuthenticated
            }
        }
    }

    @Test func `400 items are accepted, and 401 fail as a whole`() async throws {
        try await self.withDatabase { database, _, _ in
            let records = (0..<401).map { note("record \($0)") }
            let (saved, _) = try await database.modifyRecords(saving: Array(records.dropLast()), deleting: [])
            #expect(saved.count == 400 && saved.values.allSatisfy { code($0) == nil })
            await #expect {
                try await database.modifyRecords(saving: records, deleting: [], savePolicy: .allKeys)
            } throws: {
                code($0) == .limitExceeded
            }
        }
    }

    @Test func `a busy zone is the caller's to try again, with the time to wait`() async throws {
        try await self.withDatabase { database, _, server in
            server.faults.add(.save(.next), .zoneBusy(retryAfter: 2))
            await #expect { try await database.save(note("one")) } throws: { error in
                code(error) == .zoneBusy && (error as? CKError)?.retryAfterSeconds == 2
            }
            #expect(server.faults.happened == 1)
            try await database.save(note("one"))
        }
    }

    @Test func `an operation cancelled while the server works ends at once`() async throws {
        try await self.withDatabase { database, _, server in
            server.faults.add(.fetch(.next), .delay(.seconds(30)))
            let operation = CKFetchRecordsOperation(recordIDs: [id("one")])
            let events = Events()
            operation.fetchRecordsResultBlock = { events.note("\(code($0) == .operationCancelled)") }
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                operation.database = database
                operation.start()
                operation.cancel()
            }
            #expect(events.all == ["true"])
            let task = Task { try await database.record(for: id("one")) }
            task.cancel()
            await #expect { try await task.value } throws: { code($0) == .operationCancelled }
        }
    }
}
