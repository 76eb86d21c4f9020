// Compiled, not run: the examples in the doc comments of `CloudKit`, as they stand there except for
// the indentation.
import CloudKit

private func followZone(_ database: CKDatabase, _ zoneID: CKRecordZone.ID) async throws {
    var token: CKServerChangeToken?
    var local: [CKRecord.ID: CKRecord] = [:]
    var isComplete = false
    while !isComplete {
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
        for (id, result) in changes.modificationResultsByID {
            local[id] = try result.get().record
        }
        for deletion in changes.deletions { local[deletion.recordID] = nil }
        token = changes.changeToken
        isComplete = !changes.moreComing
    }
}

private func followDatabase(_ database: CKDatabase) async throws {
    var token: CKServerChangeToken?
    func drop(_ zoneID: CKRecordZone.ID) {}
    func fetchChanges(in zoneID: CKRecordZone.ID) async throws {}
    let changes = try await database.databaseChanges(since: token)
    for deletion in changes.deletions { drop(deletion.zoneID) }
    for zone in changes.modifications { try await fetchChanges(in: zone.zoneID) }
    token = changes.changeToken
}

private func followDatabase(byOperation database: CKDatabase) {
    var token: CKServerChangeToken?
    var changed: [CKRecordZone.ID] = []
    var deleted: [CKRecordZone.ID] = []
    let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
    operation.recordZoneWithIDChangedBlock = { changed.append($0) }
    operation.recordZoneWithIDWasDeletedBlock = { deleted.append($0) }
    operation.fetchDatabaseChangesResultBlock = { result in
        if case .success(let end) = result { token = end.serverChangeToken }
    }
    database.add(operation)
}

private func followZone(byOperation database: CKDatabase, _ zoneID: CKRecordZone.ID) {
    var token: CKServerChangeToken?
    var changed: [CKRecord.ID: CKRecord] = [:]
    let start = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
    start.previousServerChangeToken = token
    let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zoneID],
        configurationsByRecordZoneID: [zoneID: start]
    )
    operation.recordWasChangedBlock = { id, result in changed[id] = try? result.get() }
    operation.recordWithIDWasDeletedBlock = { id, _ in changed[id] = nil }
    operation.recordZoneFetchResultBlock = { _, result in
        if case .success(let end) = result { token = end.serverChangeToken }
    }
    database.add(operation)
}

private func snapshot(_ database: CKDatabase, _ zoneID: CKRecordZone.ID) async throws {
    func store(
        _ records: [CKRecord],
        deleting deletions: [CKDatabase.RecordZoneChange.Deletion],
        state: CKZoneSnapshot.State
    ) {}
    func show(_ fraction: Double) {}
    for try await page in database.zoneSnapshot(of: zoneID, order: .newestFirst) {
        store(page.records, deleting: page.deletions, state: page.state)
        show(page.state.fractionCompleted)
    }
}

private func connect() -> CKContainer {
    var connection = CKServerConnection(url: "tidemark://records.example.org")
    connection.serviceKey = .init(.file("/etc/notes/service.pem"))
    connection.certificateAuthority = .file("/etc/notes/ca.pem")
    let container = CKContainer(identifier: "iCloud.org.example.notes", connection: connection)
    return container
}

private func listen(_ container: CKContainer, _ zoneID: CKRecordZone.ID) async throws {
    let database = container.privateCloudDatabase
    try await database.save(CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "notes"))
    for await notification in container.notifications() {
        guard let change = notification as? CKRecordZoneNotification else { continue }
        print("Something changed in", change.recordZoneID?.zoneName ?? "a zone")
    }
}

private struct Handler {
    func didReceiveRemoteNotification(_ dictionary: [AnyHashable: Any]) {}
}

private func listen(_ container: CKContainer, _ handler: Handler) async {
    for await notification in container.notifications() {
        handler.didReceiveRemoteNotification(notification.remoteNotificationDictionary)
    }
}

private func subscribe(_ database: CKDatabase) async throws {
    let subscription = CKQuerySubscription(
        recordType: "Note",
        predicate: NSPredicate(format: "pages > %d", 10),
        subscriptionID: "long-notes",
        options: [.firesOnRecordCreation]
    )
    try await database.save(subscription)
}

private func readAssets(_ database: CKDatabase, _ record: CKRecord, _ film: CKAsset) async throws -> Data {
    let start = try await database.assetData(film, of: record.recordID, in: 0..<65_536)
    return start
}

private func saveAsset(_ database: CKDatabase, _ photo: CKRecord, _ file: URL) async throws {
    photo["image"] = CKAsset(fileURL: file)
    try await database.save(photo)
    let fetched = try await database.record(for: photo.recordID)
    if let url = (fetched["image"] as? CKAsset)?.fileURL { print(try Data(contentsOf: url).count) }
}

private func find(_ database: CKDatabase) async throws {
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "pages > %d", 10))
    query.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
    let page = try await database.records(matching: query, resultsLimit: 100)
    for (_, result) in page.matchResults { print(try result.get()["text"] ?? "") }
}

private func findAll(_ database: CKDatabase, _ query: CKQuery) async throws {
    var page = try await database.records(matching: query)
    while let cursor = page.queryCursor {
        page = try await database.records(continuingMatchFrom: cursor)
        print(page.matchResults.count)
    }
}

private func find(byOperation database: CKDatabase) {
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "pages > %d", 10))
    let operation = CKQueryOperation(query: query)
    operation.resultsLimit = 100
    operation.recordMatchedBlock = { _, result in
        if case .success(let note) = result { print(note["text"] ?? "") }
    }
    operation.queryResultBlock = { result in
        guard case .success(let cursor?) = result else { return }
        database.add(CKQueryOperation(cursor: cursor))
    }
    database.add(operation)
}

private func fetch(_ database: CKDatabase, _ ids: [CKRecord.ID]) async throws {
    do {
        let note = try await database.record(for: CKRecord.ID(recordName: "first"))
        print(note["text"] ?? "")
    } catch let error as CKError where error.code == .unknownItem {
        print("There is no such note")
    }
    let results = try await database.records(for: ids, desiredKeys: ["text"])
    for (id, result) in results {
        switch result {
        case .success(let note): print(note["text"] ?? "")
        case .failure(let error): print(id.recordName, error)
        }
    }
}

private func make() -> CKRecord {
    let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
    note["text"] = "Written on Linux"
    note["pages"] = 3
    return note
}

private func save(_ database: CKDatabase, _ note: CKRecord) async throws {
    do {
        try await database.save(note)
    } catch let error as CKError where error.code == .serverRecordChanged {
        guard let server = error.serverRecord else { throw error }
        server["text"] = note["text"]
        try await database.save(server)
    }
    try await database.deleteRecord(withID: note.recordID)
}

private func saveAgain(_ database: CKDatabase, _ note: CKRecord) async throws {
    do {
        try await database.save(note)
    } catch let error as CKError {
        switch error.retryAdvice {
        case .now: try await database.save(note)
        case .after(let seconds): print("try again in", seconds)
        case .afterChange, .never: throw error
        }
    }
}

private func modify(
    _ database: CKDatabase,
    _ list: CKRecord,
    _ item: CKRecord,
    _ old: CKRecord.ID
) async throws {
    let (saveResults, deleteResults) = try await database.modifyRecords(
        saving: [list, item],
        deleting: [old]
    )
    for case (let id, .failure(let error)) in saveResults { print(id.recordName, error) }
    for case (let id, .failure(let error)) in deleteResults { print(id.recordName, error) }
}

private func modify(byOperation database: CKDatabase, _ notes: [CKRecord], _ old: CKRecord.ID) {
    let operation = CKModifyRecordsOperation(recordsToSave: notes, recordIDsToDelete: [old])
    operation.savePolicy = .changedKeys
    operation.perRecordSaveBlock = { id, result in
        if case .failure(let error) = result { print(id.recordName, error) }
    }
    operation.modifyRecordsResultBlock = { result in
        if case .failure(let error) = result { print("nothing was saved:", error) }
    }
    database.add(operation)
}

private func share(_ database: CKDatabase, _ list: CKRecord) async throws {
    let share = CKShare(rootRecord: list)
    share[CKShare.SystemFieldKey.title] = "Shopping"
    share.publicPermission = .readWrite
    let (results, _) = try await database.modifyRecords(saving: [list, share], deleting: [])
    _ = try results[share.recordID]?.get()
    print(share.url?.absoluteString ?? "")
}

private func join(_ container: CKContainer, _ url: URL) async throws {
    let metadata = try await container.shareMetadata(for: url)
    let share = try await container.accept(metadata)
    print(share[CKShare.SystemFieldKey.title] ?? "")
    for zone in try await container.sharedCloudDatabase.allRecordZones() { print(zone.zoneID) }
}

private func join(byOperation container: CKContainer, _ metadata: CKShare.Metadata) {
    let operation = CKAcceptSharesOperation(shareMetadatas: [metadata])
    operation.perShareResultBlock = { metadata, result in
        if case .failure(let error) = result { print(metadata.containerIdentifier, error) }
    }
    container.add(operation)
}

private func sync(
    _ container: CKContainer,
    _ delegate: any CKSyncEngineDelegate,
    _ storedState: CKSyncEngine.State.Serialization?,
    _ noteID: CKRecord.ID
) {
    let engine = CKSyncEngine(
        CKSyncEngine.Configuration(
            database: container.privateCloudDatabase,
            stateSerialization: storedState,
            delegate: delegate
        )
    )
    engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Notes"))])
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(noteID)])
}
