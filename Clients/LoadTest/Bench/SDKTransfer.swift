import CloudKit
import Foundation
import Synchronization

/// Many records from a program to the server or back, by a sync engine or by operations that make
/// the same requests.
///
/// The program makes each record that it saves anew, reads two fields of each record that comes,
/// and holds none. Of its engine's states it holds the last, as apps do, and stores none.
struct SDKTransfer: Sendable {
    /// Records of a request, as an engine sends them.
    private static let recordsPerBatch = 400

    let database: CKDatabase
    let recordCount: Int
    /// Changes that the program has pending at a time.
    let pendingMax: Int

    // MARK: Operations

    /// Fetches a zone by one operation.
    func fetch(_ zone: CKRecordZone.ID) async throws {
        let received = ReceivedRecords()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [zone],
                configurationsByRecordZoneID: [:]
            )
            operation.recordWasChangedBlock = { received.add($1) }
            operation.fetchRecordZoneChangesResultBlock = { continuation.resume(with: $0) }
            self.database.add(operation)
        }
        try received.check(self.recordCount)
    }

    /// Creates a zone and fills it, by one operation after another.
    func save(in zone: CKRecordZone.ID) async throws {
        _ = try await self.database.save(CKRecordZone(zoneID: zone))
        let received = ReceivedRecords()
        for first in stride(from: 0, to: self.recordCount, by: Self.recordsPerBatch) {
            let numbers = first..<min(first + Self.recordsPerBatch, self.recordCount)
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let operation = CKModifyRecordsOperation(
                    recordsToSave: numbers.map { SDKChoices.record(Items.ownName($0), in: zone) }
                )
                operation.savePolicy = .ifServerRecordUnchanged
                operation.isAtomic = false
                operation.perRecordSaveBlock = { received.add($1) }
                operation.modifyRecordsResultBlock = { continuation.resume(with: $0) }
                self.database.add(operation)
            }
        }
        try received.check(self.recordCount)
    }

    // MARK: Engines

    /// Fetches a zone by a new engine.
    func fetchByEngine(_ zone: CKRecordZone.ID) async throws {
        let delegate = EngineProgram(sending: 0, to: zone, pendingMax: self.pendingMax)
        try await self.engine(delegate).fetchChanges(.init(scope: .zoneIDs([zone])))
        try delegate.received.check(self.recordCount)
    }

    /// Creates a zone and fills it, by a new engine.
    func saveByEngine(in zone: CKRecordZone.ID) async throws {
        let delegate = EngineProgram(sending: self.recordCount, to: zone, pendingMax: self.pendingMax)
        let engine = self.engine(delegate)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zone))])
        engine.state.add(pendingRecordZoneChanges: delegate.nextChanges(after: 0))
        try await engine.sendChanges()
        try delegate.received.check(self.recordCount)
    }

    private func engine(_ delegate: EngineProgram) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: self.database,
            stateSerialization: nil,
            delegate: delegate
        )
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }
}

/// The records that the server has sent or saved.
private final class ReceivedRecords: Sendable {
    private struct State {
        var count = 0
        var failure: (any Error)?
    }

    private let state = Mutex(State())

    func add(_ result: Result<CKRecord, any Error>) {
        let failure: (any Error)? =
            switch result {
            case .failure(let error): error
            case .success(let record): record.isWhole ? nil : LoadFailure.recordWithoutFields
            }
        self.state.withLock { state in
            state.count += 1
            state.failure = state.failure ?? failure
        }
    }

    func check(_ count: Int) throws {
        let state = self.state.withLock { $0 }
        if let failure = state.failure { throw failure }
        guard state.count == count else {
            throw LoadFailure(
                .failed,
                "\(state.count) records came instead of \(count): was the data set prepared (--prepare)?"
            )
        }
    }
}

/// A program with an engine, as its delegate.
private final class EngineProgram: CKSyncEngineDelegate {
    private struct State {
        /// Numbers of records that are not pending yet.
        var unsent: Range<Int>
        /// Changes that are pending or in flight.
        var openCount = 0
        /// The last state of the engine, which an app would store.
        var serialization: CKSyncEngine.State.Serialization?
    }

    let received = ReceivedRecords()
    private let zone: CKRecordZone.ID
    private let pendingMax: Int
    private let state: Mutex<State>

    init(sending recordCount: Int, to zone: CKRecordZone.ID, pendingMax: Int) {
        self.zone = zone
        self.pendingMax = pendingMax
        self.state = Mutex(State(unsent: 0..<recordCount))
    }

    /// Notes how many changes have been sent; returns new ones when that was all.
    func nextChanges(after sentCount: Int) -> [CKSyncEngine.PendingRecordZoneChange] {
        let numbers = self.state.withLock { state in
            state.openCount -= sentCount
            guard state.openCount == 0 else { return 0..<0 }
            let numbers = state.unsent.prefix(self.pendingMax)
            state.unsent = numbers.upperBound..<state.unsent.upperBound
            state.openCount = numbers.count
            return numbers
        }
        return numbers.map {
            .saveRecord(CKRecord.ID(recordName: Items.ownName($0), zoneID: self.zone))
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            self.state.withLock { $0.serialization = update.stateSerialization }
        case .fetchedRecordZoneChanges(let changes):
            for change in changes.modifications { self.received.add(.success(change.record)) }
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { self.received.add(.success(record)) }
            for failed in sent.failedRecordSaves { self.received.add(.failure(failed.error)) }
            let changes = self.nextChanges(after: sent.savedRecords.count)
            syncEngine.state.add(pendingRecordZoneChanges: changes)
        default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let pending = syncEngine.state.pendingRecordZoneChanges
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
            SDKChoices.record(id.recordName, in: id.zoneID)
        }
    }
}
