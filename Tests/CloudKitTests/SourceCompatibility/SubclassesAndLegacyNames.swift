// Compiled, not run: older shapes that published code still has.
import CloudKit

/// An operation of an application's own, in the shape of published wrappers.
class AccountOperation: CKDatabaseOperation, @unchecked Sendable {
    let zone: CKRecordZone
    var finished: ((Result<CKRecordZone, any Error>) -> Void)?

    init(zone: CKRecordZone) {
        self.zone = zone
        super.init()
        self.name = "account"
        self.queuePriority = .high
        self.configuration.isLongLived = false
    }

    override func main() {
        guard !self.isCancelled else { return }
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: [self.zone],
            recordZoneIDsToDelete: nil
        )
        operation.perRecordZoneSaveBlock = { [weak self] _, result in self?.finished?(result) }
        operation.database = self.database
        operation.configuration = self.configuration
        operation.group = self.group
        operation.start()
        operation.waitUntilFinished()
    }
}

class SavesAll: CKModifyRecordsOperation, @unchecked Sendable {
    override init() {
        super.init()
        self.savePolicy = .allKeys
        self.perRecordSaveBlock = { id, result in print(id.recordName, result) }
        self.perRecordDeleteBlock = { id, result in print(id.recordName, result) }
        self.modifyRecordsResultBlock = { result in print(result) }
    }

    override var isAtomic: Bool {
        get { false }
        set { super.isAtomic = newValue }
    }

    override func cancel() {
        self.modifyRecordsResultBlock = nil
        super.cancel()
    }
}

class UserRecordFetch: CKFetchRecordsOperation, @unchecked Sendable {
    convenience init(names: [String]) {
        self.init(recordIDs: names.map { CKRecord.ID(recordName: $0) })
    }

    override func main() {
        super.main()
    }
}

class Person: CKRecord, @unchecked Sendable {
    var name: String? {
        get { self["name"] }
        set { self["name"] = newValue }
    }
}

enum OlderCalls {
    @available(*, deprecated)
    static func permissions(
        _ container: CKContainer
    ) async throws -> [CKContainer_Application_PermissionStatus] {
        container.requestApplicationPermission(.userDiscoverability) { status, error in
            switch status {
            case .granted, .denied, .initialState, .couldNotComplete: print(error as Any)
            @unknown default: break
            }
        }
        container.status(forApplicationPermission: [.userDiscoverability]) { _, _ in }
        let permissions: CKApplicationPermissions = CKContainer.Application.Permissions(rawValue: 1)
        let block: CKContainer.ApplicationPermissionBlock = { _, _ in }
        block(.denied, nil)
        return [
            try await container.applicationPermissionStatus(for: permissions),
            try await container.requestApplicationPermission(.userDiscoverability),
        ]
    }

    @available(*, deprecated)
    static func names(owner: String?) -> [NSObject] {
        let action: CKRecord_Reference_Action = CKRecord.Reference.Action.none
        let zoneID = CKRecordZone.ID(zoneName: "zone", ownerName: owner)
        let record = CKRecord(recordType: "Note", zoneID: zoneID)
        return [
            zoneID, record, CKReference(record: record, action: action), CKRecordZone.ID(ownerName: nil),
            CKRecordZone.ID(zoneName: "zone", ownerName: CKOwnerDefaultName),
        ]
    }

    static func operationSettings(_ operation: CKOperation) -> [Any?] {
        let group = CKOperationGroup()
        group.name = "sync"
        group.quantity = 3
        group.expectedSendSize = .kilobytes
        group.expectedReceiveSize = .hundredsOfGigabytes
        group.defaultConfiguration = CKOperation.Configuration()
        group.defaultConfiguration.qualityOfService = .utility
        operation.group = group
        operation.isLongLived = false
        operation.allowsCellularAccess = true
        operation.timeoutIntervalForRequest = 10
        operation.timeoutIntervalForResource = 60
        operation.container = CKContainer.default()
        operation.longLivedOperationWasPersistedBlock = {}
        let id: CKOperation.ID = operation.operationID
        return [id, group.operationGroupID, operation.configuration.container, operation.container]
    }

    static func batches(_ database: CKDatabase, _ zone: CKRecordZone, _ record: CKRecord) {
        database.modifyRecords(saving: [record], deleting: []) { result in
            if case .success(let (saveResults, deleteResults)) = result { print(saveResults, deleteResults) }
        }
        database.modifyRecords(
            saving: [record],
            deleting: [record.recordID],
            savePolicy: .changedKeys,
            atomically: false
        ) { (result: Result) in
            print((try? result.get().saveResults[record.recordID]?.get()) as Any)
        }
        database.modifyRecordZones(saving: [zone], deleting: []) { result in
            print((try? result.get())?.saveResults as Any)
        }
        database.fetch(withRecordZoneIDs: [zone.zoneID]) { result in print(result) }
        database.fetch(withRecordIDs: [record.recordID], desiredKeys: ["a"]) { result in print(result) }
        database.configuredWith(configuration: CKOperation.Configuration()) {
            $0.fetchAllRecordZones { _, _ in }
        }
    }

    static func observe(_ changed: @escaping @Sendable () -> Void) -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(forName: .CKAccountChanged, object: nil, queue: nil) { _ in
            changed()
        }
    }
}
