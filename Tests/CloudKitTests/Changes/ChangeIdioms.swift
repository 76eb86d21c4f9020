// Compiled, not run: changes in the forms that published code has them in.
import CloudKit

final class ChangeIdioms {
    let database = CKContainer(identifier: "iCloud.org.example").privateCloudDatabase
    private var databaseToken: CKServerChangeToken?
    private var tokens: [CKRecordZone.ID: CKServerChangeToken] = [:]

    func keep(_ token: CKServerChangeToken) throws -> CKServerChangeToken? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        UserDefaults.standard.set(data, forKey: "token")
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
    }

    func fetchDatabase(done: @escaping ([CKRecordZone.ID]) -> Void) {
        var changed: [CKRecordZone.ID] = []
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: self.databaseToken)
        operation.fetchAllChanges = true
        operation.resultsLimit = 100
        operation.recordZoneWithIDChangedBlock = { changed.append($0) }
        operation.recordZoneWithIDWasDeletedBlock = { [weak self] zoneID in self?.tokens[zoneID] = nil }
        operation.recordZoneWithIDWasPurgedBlock = { _ in }
        operation.changeTokenUpdatedBlock = { [weak self] in self?.databaseToken = $0 }
        operation.fetchDatabaseChangesCompletionBlock = { [weak self] token, moreComing, error in
            if let error = error as? CKError, error.code == .changeTokenExpired { self?.databaseToken = nil }
            self?.databaseToken = token
            if !moreComing { done(changed) }
        }
        operation.fetchDatabaseChangesResultBlock = { result in
            switch result {
            case .success(let (token, moreComing)): print(token, moreComing)
            case .failure(let error): print(error)
            }
        }
        self.database.add(operation)
    }

    func fetchZones(_ zoneIDs: [CKRecordZone.ID]) {
        var configurations: [CKRecordZone.ID: CKFetchRecordZoneChangesOperation.ZoneConfiguration] = [:]
        for zoneID in zoneIDs {
            let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
            configuration.previousServerChangeToken = self.tokens[zoneID]
            configuration.desiredKeys = nil
            configuration.resultsLimit = 200
            configurations[zoneID] = configuration
        }
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: zoneIDs,
            configurationsByRecordZoneID: configurations
        )
        operation.fetchAllChanges = true
        operation.recordChangedBlock = { record in print(record) }
        operation.recordWasChangedBlock = { id, result in
            if case .success(let record) = result { print(id, record) }
        }
        operation.recordWithIDWasDeletedBlock = { id, type in print(id, type) }
        operation.recordZoneChangeTokensUpdatedBlock = { [weak self] zoneID, token, _ in
            self?.tokens[zoneID] = token
        }
        operation.recordZoneFetchCompletionBlock = { [weak self] zoneID, token, _, moreComing, error in
            switch (error as? CKError)?.code {
            case .changeTokenExpired?, .zoneNotFound?, .userDeletedZone?: self?.tokens[zoneID] = nil
            default: self?.tokens[zoneID] = token
            }
            print(moreComing)
        }
        operation.recordZoneFetchResultBlock = { [weak self] zoneID, result in
            switch result {
            case .success((let token, _, let moreComing)):
                self?.tokens[zoneID] = token
                print(moreComing)
            case .failure(let error): print(error)
            }
        }
        operation.fetchRecordZoneChangesCompletionBlock = { error in print(error as Any) }
        operation.fetchRecordZoneChangesResultBlock = { result in
            if case .failure(let error) = result { print(error) }
        }
        operation.qualityOfService = .userInitiated
        self.database.add(operation)
    }

    @available(*, deprecated)
    func older(_ zoneID: CKRecordZone.ID) -> [CKDatabaseOperation] {
        let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
        options.previousServerChangeToken = self.tokens[zoneID]
        let other: CKFetchRecordZoneChangesOptions = options
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID],
            optionsByRecordZoneID: [zoneID: other]
        )
        let oldest = CKFetchRecordChangesOperation(recordZoneID: zoneID, previousServerChangeToken: nil)
        oldest.recordChangedBlock = { print($0) }
        oldest.recordWithIDWasDeletedBlock = { print($0) }
        oldest.fetchRecordChangesCompletionBlock = { [unowned oldest] token, data, error in
            print(token as Any, data as Any, error as Any, oldest.moreComing)
        }
        return [operation, oldest]
    }

    func asynchronously(_ zoneID: CKRecordZone.ID) async throws {
        let database = CKContainer(identifier: "iCloud.org.example").privateCloudDatabase
        var token: CKServerChangeToken?
        var moreComing = true
        while moreComing {
            let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            for (id, result) in changes.modificationResultsByID {
                switch result {
                case .success(let modification): print(id, modification.record)
                case .failure(let error): print(error)
                }
            }
            for deletion in changes.deletions { print(deletion.recordID, deletion.recordType) }
            token = changes.changeToken
            moreComing = changes.moreComing
        }
        let (modifications, deletions, next, more) = try await database.databaseChanges(
            since: token,
            resultsLimit: 10
        )
        print(modifications.map(\.zoneID), deletions.map(\.reason), next, more)
        database.fetchRecordZoneChanges(inZoneWith: zoneID, since: nil, desiredKeys: ["a"]) { result in
            print((try? result.get())?.moreComing as Any)
        }
        database.fetchDatabaseChanges(since: nil) { result in
            if case .success(let (changed, _, token, _)) = result { print(changed, token) }
        }
    }

    func beyondApple(_ database: CKDatabase, _ zoneID: CKRecordZone.ID) async throws -> CKServerChangeToken? {
        let token = try await database.currentToken(inZoneWith: zoneID)
        print(token, try await database.currentDatabaseToken())
        var state: CKZoneSnapshot.State?
        for try await page in database.zoneSnapshot(of: zoneID, order: .newestFirst) {
            print(page.records.count, page.deletions.count, page.state.fractionCompleted)
            state = page.state
        }
        return state?.changeToken
    }
}
