import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

/// What a device has on its disk: notes, what the server is known to have of them, and the engine's
/// last state.
///
/// Of two changes that were not sent the last one wins, by a number that no two changes share. A
/// deletion of what was changed here and not sent is undone.
struct DeviceDisk: Sendable {
    struct Note: Hashable, Sendable {
        /// Of the last change.
        var stamp: Int
        /// Of the change that the server is known to have, or `nil` if it does not have the note.
        var sentStamp: Int?
        /// Archived system fields, or `nil` if the server does not have the note.
        var system: Data?

        var isUnsent: Bool { self.stamp != self.sentStamp }
    }

    var notes: [CKRecord.ID: Note] = [:]
    var zones: Set<CKRecordZone.ID> = []
    var state: CKSyncEngine.State.Serialization?
    /// Changes that the app has asked its engine to send, that no state has been kept with yet, and
    /// that were not sent either.
    var outbox: [CKRecord.ID: CKSyncEngine.PendingRecordZoneChange] = [:]
    var zoneOutbox: [CKSyncEngine.PendingDatabaseChange] = []

    mutating func ask(_ change: CKSyncEngine.PendingRecordZoneChange) {
        switch change {
        case .saveRecord(let id), .deleteRecord(let id): self.outbox[id] = change
        }
    }

    /// A state was kept: what it has, nobody needs to remember.
    mutating func keep(_ state: CKSyncEngine.State.Serialization) {
        self.state = state
        let pending = Pending(state.pendingRecordZoneChanges, state.pendingDatabaseChanges)
        self.outbox = self.outbox.filter { !pending.records.contains($0.value) }
        self.zoneOutbox.removeAll { pending.zones.contains($0) }
    }

    /// What the engine has no more, it has told the fate of.
    mutating func forget(allBut pending: Pending) {
        self.outbox = self.outbox.filter { pending.records.contains($0.value) }
        self.zoneOutbox.removeAll { !pending.zones.contains($0) }
    }
}

/// What an engine is to send.
struct Pending: Sendable {
    let records: Set<CKSyncEngine.PendingRecordZoneChange>
    let zones: Set<CKSyncEngine.PendingDatabaseChange>

    init(
        _ records: [CKSyncEngine.PendingRecordZoneChange],
        _ zones: [CKSyncEngine.PendingDatabaseChange]
    ) {
        self.records = Set(records)
        self.zones = Set(zones)
    }

    init(_ state: CKSyncEngine.State) {
        self.init(state.pendingRecordZoneChanges, state.pendingDatabaseChanges)
    }

    func deletes(_ zone: CKRecordZone.ID) -> Bool { self.zones.contains(.deleteZone(zone)) }
    func saves(_ zone: CKRecordZone.ID) -> Bool { self.zones.contains(.saveZone(CKRecordZone(zoneID: zone))) }
}

/// An app on a device, as one process: from a start to its death.
final class SyncDevice: CKSyncEngineDelegate {
    struct Life: Sendable {
        var disk: DeviceDisk
        var isDead = false
        /// Calls of the delegate until the process dies, or `nil` if it does not.
        var callsLeft: Int?
        var complaints: [String] = []
    }

    /// Of a request, as the server has it.
    static let itemsMax = 7

    let life: Mutex<Life>
    private let engine = Mutex<CKSyncEngine?>(nil)
    /// Numbers changes, of all devices.
    private let clock: @Sendable () -> Int
    private let isAtomic: Bool

    init(_ disk: DeviceDisk, isAtomic: Bool, clock: @escaping @Sendable () -> Int) {
        self.life = Mutex(Life(disk: disk))
        self.isAtomic = isAtomic
        self.clock = clock
    }

    var disk: DeviceDisk { self.life.withLock { $0.disk } }
    var isDead: Bool { self.life.withLock { $0.isDead } }
    var running: CKSyncEngine? { self.engine.withLock { $0 } }

    func start(_ database: CKDatabase, automatically: Bool) {
        // What the engine tells waits until it has everything that it is to send.
        self.life.withLock { life in
            var configuration = CKSyncEngine.Configuration(
                database: database,
                stateSerialization: life.disk.state,
                delegate: self
            )
            configuration.automaticallySync = automatically
            let engine = CKSyncEngine(configuration, pausing: .milliseconds(2)...(.milliseconds(20)))
            engine.state.add(pendingDatabaseChanges: life.disk.zoneOutbox)
            engine.state.add(pendingRecordZoneChanges: Array(life.disk.outbox.values))
            self.engine.withLock { $0 = engine }
        }
    }

    /// The process ends, wherever it is: nothing that it does later reaches the disk.
    func die() {
        self.life.withLock { $0.isDead = true }
        self.engine.withLock { $0 = nil }
    }

    /// Changes the disk, unless the process is dead.
    private func write(_ change: (inout Life) -> Void) {
        self.life.withLock { life in
            if !life.isDead { change(&life) }
        }
    }

    // MARK: What a user does

    // The engine has a change before it can tell of anything else: no state without the change is
    // kept after the disk has it.

    func change(_ id: CKRecord.ID) {
        let stamp = self.clock()
        self.write { life in
            guard life.disk.zones.contains(id.zoneID) else { return }
            life.disk.notes[id, default: .init(stamp: stamp)].stamp = stamp
            self.ask(.saveRecord(id), &life)
        }
    }

    func delete(_ id: CKRecord.ID) {
        self.write { life in
            guard life.disk.notes.removeValue(forKey: id) != nil else { return }
            self.ask(.deleteRecord(id), &life)
        }
    }

    func create(_ zone: CKRecordZone.ID) {
        self.write { life in
            // Of the changes of a zone the last counts: the zone would keep what was deleted with it.
            guard !life.isGoing(zone, self.running) else { return }
            life.disk.zones.insert(zone)
            self.ask(.saveZone(CKRecordZone(zoneID: zone)), &life)
        }
    }

    func delete(_ zone: CKRecordZone.ID) {
        self.write { life in
            life.disk.zones.remove(zone)
            life.disk.notes = life.disk.notes.filter { $0.key.zoneID != zone }
            life.disk.outbox = life.disk.outbox.filter { $0.key.zoneID != zone }
            life.disk.zoneOutbox.removeAll { $0 == .saveZone(CKRecordZone(zoneID: zone)) }
            if let state = self.running?.state {
                let changes = state.pendingRecordZoneChanges.filter { $0.zoneID == zone }
                state.remove(pendingRecordZoneChanges: changes)
            }
            self.ask(.deleteZone(zone), &life)
        }
    }

    private func ask(_ change: CKSyncEngine.PendingRecordZoneChange, _ life: inout Life) {
        life.disk.ask(change)
        self.running?.state.add(pendingRecordZoneChanges: [change])
    }

    private func ask(_ change: CKSyncEngine.PendingDatabaseChange, _ life: inout Life) {
        life.disk.zoneOutbox.append(change)
        self.running?.state.add(pendingDatabaseChanges: [change])
    }

    // MARK: What the engine tells

    /// - Returns: Whether the process lives on.
    private func survives() -> Bool {
        self.life.withLock { life in
            guard !life.isDead else { return false }
            guard let left = life.callsLeft else { return true }
            life.callsLeft = left - 1
            if left <= 0 { life.isDead = true }
            return !life.isDead
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard self.survives() else { return }
        var zones: [CKSyncEngine.PendingDatabaseChange] = []
        var records: [CKSyncEngine.PendingRecordZoneChange] = []
        self.write { life in
            let pending = Pending(syncEngine.state)
            switch event {
            case .stateUpdate(let event): life.disk.keep(event.stateSerialization)
            case .fetchedDatabaseChanges(let event): zones = life.take(event, pending)
            case .fetchedRecordZoneChanges(let event): life.take(event, pending)
            case .sentDatabaseChanges(let event): life.take(event)
            case .sentRecordZoneChanges(let event): (zones, records) = life.take(event, clock: self.clock)
            // It does not look at what Apple's engine does not say: which zones are fetched anew.
            case .accountChange, .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges,
                .didFetchChanges, .willSendChanges, .didSendChanges:
                break
            }
            life.disk.forget(allBut: pending)
            for change in records { life.disk.ask(change) }
            life.disk.zoneOutbox += zones
        }
        // Dies between the disk and the engine, now and then.
        guard self.survives() else { return }
        self.life.withLock { life in
            // The user may have deleted a zone meanwhile.
            let again = zones.filter {
                if case .saveZone(let zone) = $0 { !life.isGoing(zone.zoneID, syncEngine) } else { true }
            }
            syncEngine.state.add(pendingDatabaseChanges: again)
        }
        syncEngine.state.add(pendingRecordZoneChanges: records)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        guard self.survives() else { return nil }
        var changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        // What is to succeed together is the app's to keep within the limit.
        if self.isAtomic { changes = Array(changes.prefix(Self.itemsMax)) }
        var batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            guard let note = self.disk.notes[id] else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
                return nil
            }
            let record =
                note.system.flatMap { CKRecord(archived: $0) } ?? CKRecord(recordType: "Note", recordID: id)
            record["stamp"] = note.stamp
            return record
        }
        batch?.atomicByZone = self.isAtomic
        return batch
    }
}

extension SyncDevice.Life {
    /// Whether a zone is to be deleted, or is being deleted.
    fileprivate func isGoing(_ zone: CKRecordZone.ID, _ engine: CKSyncEngine?) -> Bool {
        let kept = self.disk.state?.pendingDatabaseChanges ?? []
        let pending = engine?.state.pendingDatabaseChanges ?? []
        return (kept + self.disk.zoneOutbox + pending).contains(.deleteZone(zone))
    }

    /// Takes what the server has, unless what was changed here and not sent is newer.
    fileprivate mutating func merge(_ record: CKRecord) {
        let id = record.recordID
        let there = record["stamp"] as? Int ?? 0
        let unsent = self.disk.notes[id].flatMap { $0.isUnsent ? $0.stamp : nil } ?? 0
        self.disk.notes[id] = .init(stamp: max(unsent, there), sentStamp: there, system: record.archived)
    }

    /// The server has no such note any more.
    private mutating func lose(_ id: CKRecord.ID) {
        guard let note = self.disk.notes[id] else { return }
        self.disk.notes[id] = note.isUnsent ? .init(stamp: note.stamp) : nil
    }

    /// - Returns: Zones that are to be created again, because of what was changed in them here and not sent.
    fileprivate mutating func take(
        _ event: CKSyncEngine.Event.FetchedDatabaseChanges,
        _ pending: Pending
    ) -> [CKSyncEngine.PendingDatabaseChange] {
        for zone in event.modifications.map(\.zoneID) where !pending.deletes(zone) {
            self.disk.zones.insert(zone)
        }
        var again: [CKSyncEngine.PendingDatabaseChange] = []
        for zone in event.deletions.map(\.zoneID) {
            for id in self.disk.notes.keys where id.zoneID == zone { self.lose(id) }
            if pending.saves(zone) { continue }
            if self.disk.notes.keys.contains(where: { $0.zoneID == zone }) {
                again.append(.saveZone(CKRecordZone(zoneID: zone)))
            } else {
                self.disk.zones.remove(zone)
            }
        }
        return again
    }

    fileprivate mutating func take(
        _ event: CKSyncEngine.Event.FetchedRecordZoneChanges,
        _ pending: Pending
    ) {
        for record in event.modifications.map(\.record) {
            let id = record.recordID
            // Deleted here, and not sent yet; or in a zone that is.
            if pending.records.contains(.deleteRecord(id)) || pending.deletes(id.zoneID) { continue }
            self.merge(record)
        }
        for id in event.deletions.map(\.recordID) { self.lose(id) }
    }

    fileprivate mutating func take(_ event: CKSyncEngine.Event.SentDatabaseChanges) {
        for failed in event.failedZoneSaves where !failed.error.isExpected {
            self.complaints.append("\(failed.zone): \(failed.error)")
        }
        for (zone, error) in event.failedZoneDeletes where !error.isExpected {
            self.complaints.append("\(zone): \(error)")
        }
    }

    /// - Returns: What is to be sent again.
    fileprivate mutating func take(
        _ event: CKSyncEngine.Event.SentRecordZoneChanges,
        clock: () -> Int
    ) -> ([CKSyncEngine.PendingDatabaseChange], [CKSyncEngine.PendingRecordZoneChange]) {
        var zones: [CKSyncEngine.PendingDatabaseChange] = []
        var records: [CKSyncEngine.PendingRecordZoneChange] = []
        for record in event.savedRecords {
            self.disk.notes[record.recordID]?.system = record.archived
            self.disk.notes[record.recordID]?.sentStamp = record["stamp"] as? Int
        }
        for failed in event.failedRecordSaves {
            let id = failed.record.recordID
            guard self.disk.notes[id] != nil else { continue }
            switch failed.error.code {
            case .serverRecordChanged:
                guard let server = failed.error.serverRecord else { continue }
                self.merge(server)
                if self.disk.notes[id]?.isUnsent == true { records.append(.saveRecord(id)) }
            case .zoneNotFound:
                self.disk.zones.insert(id.zoneID)
                zones.append(.saveZone(CKRecordZone(zoneID: id.zoneID)))
                self.disk.notes[id] = .init(stamp: clock())
                records.append(.saveRecord(id))
            case .unknownItem:
                self.disk.notes[id] = .init(stamp: clock())
                records.append(.saveRecord(id))
            case .batchRequestFailed: records.append(.saveRecord(id))
            default:
                if !failed.error.isExpected { self.complaints.append("\(id): \(failed.error)") }
            }
        }
        for (id, error) in event.failedRecordDeletes {
            switch error.code {
            case .batchRequestFailed where self.disk.notes[id] == nil: records.append(.deleteRecord(id))
            case .zoneNotFound: break
            default: if !error.isExpected { self.complaints.append("\(id): \(error)") }
            }
        }
        return (zones, records)
    }
}

extension CKSyncEngine.PendingRecordZoneChange {
    fileprivate var zoneID: CKRecordZone.ID {
        switch self {
        case .saveRecord(let id), .deleteRecord(let id): id.zoneID
        }
    }
}

extension CKError {
    /// Whether the engine tries again by itself.
    fileprivate var isExpected: Bool {
        switch self.code {
        case .requestRateLimited, .serviceUnavailable, .zoneBusy, .networkFailure, .serverResponseLost,
            .batchRequestFailed, .operationCancelled:
            true
        default: false
        }
    }
}

extension CKRecord {
    /// The system fields.
    fileprivate var archived: Data {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        self.encodeSystemFields(with: coder)
        coder.finishEncoding()
        return coder.encodedData
    }

    fileprivate convenience init?(archived: Data) {
        guard let coder = try? NSKeyedUnarchiver(forReadingFrom: archived) else { return nil }
        coder.requiresSecureCoding = true
        self.init(coder: coder)
    }
}
