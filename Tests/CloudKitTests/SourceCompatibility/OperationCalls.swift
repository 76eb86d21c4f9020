// Compiled, not run: calls in the forms that published code has them in.
import CloudKit

final class OperationCalls {
    let container = CKContainer(identifier: "iCloud.org.example")
    private(set) lazy var database = self.container.privateCloudDatabase
    private var collected: [CKRecord] = []
    private let queue = OperationQueue()

    func modify(records: [CKRecord], deleting ids: [CKRecord.ID], done: @escaping ((any Error)?) -> Void) {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: ids)
        operation.savePolicy = .changedKeys
        operation.isAtomic = true
        operation.qualityOfService = .userInitiated
        operation.configuration.timeoutIntervalForRequest = 30
        operation.clientChangeTokenData = Data([1])
        var failures: [CKRecord.ID: any Error] = [:]
        operation.perRecordSaveBlock = { id, result in
            if case .failure(let error) = result { failures[id] = error }
        }
        operation.perRecordProgressBlock = { record, progress in print(record.recordID.recordName, progress) }
        operation.modifyRecordsCompletionBlock = { [weak self] saved, _, error in
            self?.collected.append(contentsOf: saved ?? [])
            if let error = error as? CKError, error.code == .limitExceeded { return }
            if let partial = (error as NSError?)?.userInfo[CKPartialErrorsByItemIDKey]
                as? [AnyHashable: any Error]
            {
                print(partial.count)
            }
            done(error)
        }
        let dependency = BlockOperation {}
        operation.addDependency(dependency)
        self.queue.addOperation(dependency)
        self.database.add(operation)
    }

    func results() {
        let operation = CKModifyRecordsOperation(recordsToSave: nil, recordIDsToDelete: nil)
        operation.modifyRecordsResultBlock = { result in
            switch result {
            case .success: break
            case .failure(CKError.partialFailure): break
            case .failure(let error): print(error)
            }
        }
        operation.completionBlock = {}
        self.container.add(operation)
        let zones = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneName: "zone")],
            recordZoneIDsToDelete: []
        )
        zones.modifyRecordZonesCompletionBlock = { saved, deleted, error in
            print(saved as Any, deleted as Any, error as Any)
        }
        self.container.privateCloudDatabase.add(zones)
        let all = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        all.fetchRecordZonesCompletionBlock = { zones, error in print(zones?.count ?? 0, error as Any) }
        self.queue.addOperations([all], waitUntilFinished: false)
        let fetch = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "one")])
        fetch.desiredKeys = ["title"]
        fetch.perRecordCompletionBlock = { record, id, error in print(record as Any, id as Any, error as Any)
        }
        fetch.fetchRecordsCompletionBlock = { records, error in
            print(records?.values.count ?? 0, error as Any)
        }
        fetch.database = self.container.publicCloudDatabase
        fetch.start()
        let user = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        user.configuration = CKOperation.Configuration()
        user.group = CKOperationGroup()
    }

    func handlers(_ record: CKRecord) {
        self.database.save(record) { saved, error in
            DispatchQueue.main.async { print(saved?.recordID as Any, error?.localizedDescription as Any) }
        }
        self.database.fetch(withRecordID: record.recordID) { _, _ in }
        self.database.delete(withRecordID: record.recordID) { _, _ in }
        self.database.save(CKRecordZone(zoneName: "zone")) { _, _ in }
        self.database.fetchAllRecordZones { zones, _ in print(zones ?? []) }
        self.database.fetch(withRecordZoneID: record.recordID.zoneID) { _, _ in }
        self.database.delete(withRecordZoneID: record.recordID.zoneID) { _, _ in }
        self.database.fetch(withRecordIDs: [record.recordID]) { result in
            for (id, record) in (try? result.get()) ?? [:] { print(id, record) }
        }
        self.container.accountStatus { status, _ in
            switch status {
            case .available, .couldNotDetermine, .noAccount, .restricted, .temporarilyUnavailable: break
            @unknown default: break
            }
        }
        self.container.fetchUserRecordID { id, _ in print(id?.recordName ?? "") }
    }

    func asynchronously(_ record: CKRecord) async throws {
        let saved = try await self.container.privateCloudDatabase.save(record)
        let fetched = try await self.container.privateCloudDatabase.record(for: saved.recordID)
        try await self.container.privateCloudDatabase.deleteRecord(withID: fetched.recordID)
        let (saveResults, deleteResults) = try await self.container.privateCloudDatabase.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .allKeys,
            atomically: false
        )
        for (_, result) in saveResults { _ = try result.get() }
        for (_, result) in deleteResults { try result.get() }
        let zones = try await self.container.privateCloudDatabase.modifyRecordZones(
            saving: [CKRecordZone(zoneName: "zone")],
            deleting: []
        )
        print(zones.saveResults, zones.deleteResults)
        let records = try await self.container.privateCloudDatabase.records(
            for: [record.recordID],
            desiredKeys: ["a"]
        )
        print(records[record.recordID] as Any)
        _ = try await self.container.privateCloudDatabase.recordZones(for: [])
        _ = try await self.container.privateCloudDatabase.allRecordZones()
        if try await self.container.accountStatus() == .available {
            print(try await self.container.userRecordID())
        }
        try await self.container.privateCloudDatabase.configuredWith(group: CKOperationGroup()) { database in
            _ = try await database.allRecordZones()
        }
    }
}

/// Published code puts its own face on operations and databases.
protocol DatabaseLike {
    func add(_ operation: CKDatabaseOperation)
    func save(_ record: CKRecord, completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void)
    func record(for recordID: CKRecord.ID) async throws -> CKRecord
    var databaseScope: CKDatabase.Scope { get }
}

extension CKDatabase: DatabaseLike {}

protocol ModifyOperation: CKDatabaseOperation {
    var savePolicy: CKModifyRecordsOperation.RecordSavePolicy { get set }
    var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)? { get set }
}

extension CKModifyRecordsOperation: ModifyOperation {}
