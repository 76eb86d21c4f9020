// Compiled, not run: delegates and closures on actors, in the forms that Apple's framework takes.
import CloudKit

/// A model of the main actor that is the engine's delegate itself.
@MainActor
final class MainActorModel: CKSyncEngineDelegate {
    var titles: [String] = []

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .fetchedRecordZoneChanges(let changes) = event {
            self.titles += changes.modifications.map(\.record.recordID.recordName)
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let titles = self.titles
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            titles.contains(id.recordName) ? CKRecord(recordType: "Note", recordID: id) : nil
        }
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        self.titles = []
        return context.options
    }

    func save(_ record: CKRecord, in database: CKDatabase) async throws {
        self.titles.append(try await database.save(record).recordID.recordName)
        _ = try await database.configuredWith { try await $0.records(for: [record.recordID]) }
    }
}

/// The same with the conformance in an extension, and with methods that do not wait.
@MainActor
final class ExtendedModel {
    var titles: [String] = []
}

extension ExtendedModel: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) { self.titles.append("event") }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) -> CKSyncEngine.RecordZoneChangeBatch? {
        self.titles.isEmpty ? nil : .init()
    }
}

@globalActor
actor SyncActor {
    static let shared = SyncActor()
}

/// A delegate on a global actor of the app's own, which supplies records by a method.
@SyncActor
final class SyncActorModel: CKSyncEngineDelegate {
    var titles: [CKRecord.ID: String] = [:]

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async { self.titles = [:] }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await .init(
            pendingChanges: syncEngine.state.pendingRecordZoneChanges,
            recordProvider: self.record(for:)
        )
    }

    private func record(for id: CKRecord.ID) -> CKRecord? {
        guard let title = self.titles[id] else { return nil }
        let record = CKRecord(recordType: "Note", recordID: id)
        record["title"] = title
        return record
    }
}

extension CKDatabase {
    /// Passes a closure on; what it returns need not be Sendable.
    func patiently<R>(
        _ body: @escaping @Sendable (CKDatabase) async throws -> R
    ) async throws -> R {
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 10
        return try await self.configuredWith(configuration: configuration, body: body)
    }
}

extension CKContainer {
    func patiently<R>(
        _ body: @escaping @Sendable (CKContainer) async throws -> R
    ) async throws -> R {
        let group = CKOperationGroup()
        return try await self.configuredWith(group: group, body: body)
    }
}

/// What both a database and a double of it for tests do.
protocol RecordSaving {
    func save(_ record: CKRecord) async throws -> CKRecord
    func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]?
    ) async throws
        -> [CKRecord.ID: Result<CKRecord, any Error>]
}

extension CKDatabase: RecordSaving {}

@MainActor
protocol AccountReading {
    func accountStatus() async throws -> CKAccountStatus
}

extension CKContainer: AccountReading {}

final class OfflineContainer: CKContainer, @unchecked Sendable {
    override func accountStatus() async throws -> CKAccountStatus { .noAccount }
    override func userRecordID() async throws -> CKRecord.ID { throw CKError(.notAuthenticated) }
}

enum MethodValues {
    static func read(_ database: CKDatabase, _ id: CKRecord.ID) async throws -> CKRecord {
        let fetch: @Sendable (CKRecord.ID) async throws -> CKRecord = database.record(for:)
        async let record = fetch(id)
        return try await record
    }
}
