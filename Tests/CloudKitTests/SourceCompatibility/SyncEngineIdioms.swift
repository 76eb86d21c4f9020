// Compiled, not run: an app that syncs contacts, in the form that published code and Apple's sample have.
import CloudKit

struct Contact: Identifiable, Codable {
    var id: String
    var name = ""
    var lastKnownRecordData: Data?

    static let recordType: CKRecord.RecordType = "Contact"
    static let zoneName = "Contacts"

    var recordID: CKRecord.ID {
        CKRecord.ID(recordName: self.id, zoneID: CKRecordZone.ID(zoneName: Self.zoneName))
    }

    var lastKnownRecord: CKRecord? {
        get {
            guard let data = self.lastKnownRecordData,
                let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
            else { return nil }
            unarchiver.requiresSecureCoding = true
            return CKRecord(coder: unarchiver)
        }
        set {
            guard let newValue else {
                self.lastKnownRecordData = nil
                return
            }
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            newValue.encodeSystemFields(with: archiver)
            self.lastKnownRecordData = archiver.encodedData
        }
    }

    func populateRecord(_ record: CKRecord) { record["name"] = self.name }

    mutating func mergeFromServerRecord(_ record: CKRecord) {
        self.name = record["name"] as? String ?? self.name
    }
}

final actor SyncedContacts: Sendable {
    struct AppData: Codable {
        var contacts: [Contact.ID: Contact] = [:]
        var stateSerialization: CKSyncEngine.State.Serialization?
    }

    static let container = CKContainer(identifier: "iCloud.org.example.contacts")

    var appData = AppData()
    let automaticallySync: Bool
    var _syncEngine: CKSyncEngine?

    var syncEngine: CKSyncEngine {
        if self._syncEngine == nil { self.initializeSyncEngine() }
        return self._syncEngine!
    }

    init(automaticallySync: Bool = true) {
        self.automaticallySync = automaticallySync
        Task { await self.initializeSyncEngine() }
    }

    func initializeSyncEngine() {
        var configuration = CKSyncEngine.Configuration(
            database: Self.container.privateCloudDatabase,
            stateSerialization: self.appData.stateSerialization,
            delegate: self
        )
        configuration.automaticallySync = self.automaticallySync
        let syncEngine = CKSyncEngine(configuration)
        self._syncEngine = syncEngine
        print("Initialized sync engine: \(syncEngine)")
    }

    func saveContacts(_ contacts: [Contact]) {
        for contact in contacts { self.appData.contacts[contact.id] = contact }
        let pendingSaves: [CKSyncEngine.PendingRecordZoneChange] = contacts.map { .saveRecord($0.recordID) }
        self.syncEngine.state.add(pendingRecordZoneChanges: pendingSaves)
    }

    func deleteServerData() {
        let zoneID = CKRecordZone.ID(zoneName: Contact.zoneName)
        self.syncEngine.state.add(pendingDatabaseChanges: [.deleteZone(zoneID)])
    }

    func refresh() async throws {
        try await self.syncEngine.fetchChanges()
        let zoneIDs = [CKRecordZone.ID(zoneName: Contact.zoneName)]
        try await self.syncEngine.fetchChanges(.init(scope: .zoneIDs(zoneIDs)))
        let group = CKOperationGroup()
        group.name = "Backup"
        let options = CKSyncEngine.SendChangesOptions(scope: .all, operationGroup: group)
        try await self.syncEngine.sendChanges(options)
        await self.syncEngine.cancelOperations()
    }
}

extension SyncedContacts: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        print("Handling event \(event)")
        switch event {
        case .stateUpdate(let event): self.appData.stateSerialization = event.stateSerialization
        case .accountChange(let event): self.handleAccountChange(event)
        case .fetchedDatabaseChanges(let event): self.handleFetchedDatabaseChanges(event)
        case .fetchedRecordZoneChanges(let event): self.handleFetchedRecordZoneChanges(event)
        case .sentRecordZoneChanges(let event): self.handleSentRecordZoneChanges(event)
        case .sentDatabaseChanges(let event):
            for failure in event.failedZoneSaves { print(failure.zone, failure.error.code) }
            for (zoneID, error) in event.failedZoneDeletes { print(zoneID, error.localizedDescription) }
        case .didFetchRecordZoneChanges(let event):
            if let error = event.error { print(event.zoneID, error) }
        case .willSendChanges(let event): print(event.context.reason == .scheduled)
        case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchChanges, .didSendChanges: break
        @unknown default: print("Received unknown event: \(event)")
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        let contacts = self.appData.contacts
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
            if let contact = contacts[recordID.recordName] {
                let record =
                    contact.lastKnownRecord ?? CKRecord(recordType: Contact.recordType, recordID: recordID)
                contact.populateRecord(record)
                return record
            } else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
                return nil
            }
        }
    }

    private func handleFetchedRecordZoneChanges(_ event: CKSyncEngine.Event.FetchedRecordZoneChanges) {
        for modification in event.modifications {
            let record = modification.record
            var contact =
                self.appData.contacts[record.recordID.recordName]
                ?? Contact(id: record.recordID.recordName)
            contact.mergeFromServerRecord(record)
            contact.lastKnownRecord = record
            self.appData.contacts[contact.id] = contact
        }
        for deletion in event.deletions {
            print(deletion.recordType)
            self.appData.contacts[deletion.recordID.recordName] = nil
        }
    }

    private func handleFetchedDatabaseChanges(_ event: CKSyncEngine.Event.FetchedDatabaseChanges) {
        for deletion in event.deletions {
            switch (deletion.zoneID.zoneName, deletion.reason) {
            case (Contact.zoneName, .deleted), (Contact.zoneName, .purged): self.appData.contacts = [:]
            case (Contact.zoneName, .encryptedDataReset): break
            default: print("Received deletion for unknown zone: \(deletion.zoneID)")
            }
        }
    }

    private func handleSentRecordZoneChanges(_ event: CKSyncEngine.Event.SentRecordZoneChanges) {
        var newPendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] = []
        var newPendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] = []
        for savedRecord in event.savedRecords {
            self.appData.contacts[savedRecord.recordID.recordName]?.lastKnownRecord = savedRecord
        }
        for failedRecordSave in event.failedRecordSaves {
            let failedRecord = failedRecordSave.record
            let contactID = failedRecord.recordID.recordName
            var shouldClearServerRecord = false
            switch failedRecordSave.error.code {
            case .serverRecordChanged:
                guard let serverRecord = failedRecordSave.error.serverRecord,
                    var contact = self.appData.contacts[contactID]
                else { continue }
                contact.mergeFromServerRecord(serverRecord)
                contact.lastKnownRecord = serverRecord
                self.appData.contacts[contactID] = contact
                newPendingRecordZoneChanges.append(.saveRecord(failedRecord.recordID))
            case .zoneNotFound:
                newPendingDatabaseChanges.append(
                    .saveZone(CKRecordZone(zoneID: failedRecord.recordID.zoneID))
                )
                newPendingRecordZoneChanges.append(.saveRecord(failedRecord.recordID))
                shouldClearServerRecord = true
            case .unknownItem:
                newPendingRecordZoneChanges.append(.saveRecord(failedRecord.recordID))
                shouldClearServerRecord = true
            case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .notAuthenticated,
                .operationCancelled:
                print("Retryable error saving \(failedRecord.recordID): \(failedRecordSave.error)")
            default: print("Unknown error saving record \(failedRecord.recordID): \(failedRecordSave.error)")
            }
            if shouldClearServerRecord { self.appData.contacts[contactID]?.lastKnownRecord = nil }
        }
        self.syncEngine.state.add(pendingDatabaseChanges: newPendingDatabaseChanges)
        self.syncEngine.state.add(pendingRecordZoneChanges: newPendingRecordZoneChanges)
    }

    private func handleAccountChange(_ event: CKSyncEngine.Event.AccountChange) {
        switch event.changeType {
        case .signIn(let currentUser):
            print(currentUser.recordName)
            self.syncEngine.state.add(
                pendingRecordZoneChanges: self.appData.contacts.values.map { .saveRecord($0.recordID) }
            )
        case .switchAccounts, .signOut: self.appData = AppData()
        @unknown default: print("Unknown account change type: \(event)")
        }
    }
}

/// Tracks its changes by itself, and makes batches of its own.
final class OutboxDelegate: NSObject, CKSyncEngineDelegate, @unchecked Sendable {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        await MainActor.run { print(event.description) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        guard syncEngine.state.hasPendingUntrackedChanges else { return nil }
        return CKSyncEngine.RecordZoneChangeBatch(
            recordsToSave: [CKRecord(recordType: "Note")],
            recordIDsToDelete: [],
            atomicByZone: true
        )
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        options.scope = .allExcluding([CKRecordZone.ID(zoneName: "Archive")])
        options.prioritizedZoneIDs = syncEngine.state.zoneIDsWithUnfetchedServerChanges
        return options
    }
}
