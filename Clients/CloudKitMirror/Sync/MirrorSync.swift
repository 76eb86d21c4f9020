internal import CloudKit
internal import Foundation
internal import GRDB
private import Synchronization

/// The delegate of the engine: it writes into the file what the engine tells.
///
/// A page that was fetched is held until the engine tells its state behind the page, and both are
/// written in one transaction. While everything in a zone is fetched, page and state are held until
/// the next event, so that the last page is in the transaction that deletes what did not come.
final class MirrorSync: CKSyncEngineDelegate {
    private struct State {
        var engine: CKSyncEngine?
        var page: CKSyncEngine.Event?
        var position: CKSyncEngine.State.Serialization?
        /// Zones that are being fetched from their beginning.
        var sweeping: Set<String> = []
        /// Whether everything was fetched since the start.
        var hasFetched = false
        /// When it helps to send again, before the engine does by itself; `nil` if it does not.
        var sendsAt: ContinuousClock.Instant?
        var stopped: MirrorError?
        var isClosed = false
    }

    let file: MirrorFile
    let policy: MirrorConflictPolicy
    let hub = EventHub()
    private let state = Mutex(State())

    private static let pauseMin = Duration.milliseconds(100)
    private static let pauseMax = Duration.seconds(5)
    private static let checkPause = Duration.seconds(1)

    init(_ file: MirrorFile, policy: MirrorConflictPolicy) {
        self.file = file
        self.policy = policy
    }

    var stopped: MirrorError? { self.state.withLock { $0.stopped } }

    var engine: CKSyncEngine? { self.state.withLock { $0.engine } }

    /// Whether nothing must be written any more.
    private var isOver: Bool { self.state.withLock { $0.isClosed || $0.stopped != nil } }

    // MARK: Start and end

    /// Starts the engine with the position in the file.
    func start(_ database: CKDatabase) throws {
        let bytes = try self.file.pool.read {
            try Data.fetchOne($0, sql: "SELECT engine FROM tidemark_state")
        }
        // A position that can't be read is none: everything comes again.
        let kept = bytes.flatMap {
            try? JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0)
        }
        if bytes != nil, kept == nil { try self.file.pool.write { try MirrorLayout.fetchAnew($0) } }
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: kept,
            delegate: self
        )
        configuration.automaticallySync = true
        let engine = CKSyncEngine(configuration)
        self.state.withLock { $0.engine = engine }
        try self.addZones(to: engine)
    }

    /// Lets the engine create the zones that the server does not have.
    private func addZones(to engine: CKSyncEngine) throws {
        let names = try self.file.pool.read {
            try String.fetchAll($0, sql: "SELECT name FROM tidemark_zone WHERE is_created = 0")
        }
        guard !names.isEmpty else { return }
        engine.state.add(pendingDatabaseChanges: names.map { .saveZone(CKRecordZone(zoneName: $0)) })
    }

    /// Ends the work; what is held is not written, and comes again.
    func close() {
        let engine = self.state.withLock { state in
            state.isClosed = true
            defer { state.engine = nil }
            return state.engine
        }
        self.hub.finish()
        self.file.close()
        withExtendedLifetime(engine) {}
    }

    func stop(_ error: MirrorError) {
        let engine = self.state.withLock { state -> CKSyncEngine? in
            guard state.stopped == nil else { return nil }
            state.stopped = error
            defer { state.engine = nil }
            return state.engine
        }
        guard engine != nil else { return }
        self.hub.report([.stopped(error)])
    }

    // MARK: The delegate

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        options.scope = .zoneIDs(self.file.layout.zones.values.map { CKRecordZone.ID(zoneName: $0) })
        return options
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            let isHeld = self.state.withLock { state in
                state.position = update.stateSerialization
                return !state.sweeping.isEmpty
            }
            if !isHeld { await self.commit() }
        case .fetchedDatabaseChanges, .fetchedRecordZoneChanges:
            await self.commit()
            self.state.withLock { $0.page = event }
        case .willFetchRecordZoneChanges(let begin): await self.begin(begin)
        case .didFetchRecordZoneChanges(let end): await self.end(end)
        case .sentRecordZoneChanges(let sent):
            await self.commit()
            await self.take(sent, syncEngine)
        case .sentDatabaseChanges(let sent):
            await self.commit()
            await self.write { store in
                for zone in sent.savedZones { try store.noteCreated(zone.zoneID.zoneName) }
            }
        case .accountChange(let change): await self.take(change, syncEngine)
        case .didFetchChanges(let end):
            await self.commit()
            guard end.error == nil else { return }
            self.state.withLock { $0.hasFetched = true }
            await self.notice()
        case .willFetchChanges, .willSendChanges, .didSendChanges: await self.commit()
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await self.commit()
        // After a crash the server may have executed a deletion, and others may have created the
        // record again: nothing is sent before that is known.
        guard self.state.withLock({ $0.hasFetched }) else {
            syncEngine.state.hasPendingUntrackedChanges = false
            return nil
        }
        guard let batch = await self.nextBatch(syncEngine) else { return nil }
        var saves: [CKRecord] = []
        var deletions: [CKRecord.ID] = []
        for change in batch.changes {
            switch change.content {
            case .save(let record, _, _): saves.append(record)
            case .delete(let id, _): deletions.append(id)
            }
        }
        return CKSyncEngine.RecordZoneChangeBatch(
            recordsToSave: saves,
            recordIDsToDelete: deletions,
            atomicByZone: batch.isAtomic
        )
    }

    // MARK: Fetched

    private func begin(_ begin: CKSyncEngine.Event.WillFetchRecordZoneChanges) async {
        await self.commit()
        guard let zone = self.file.layout.number(ofZone: begin.zoneID.zoneName) else { return }
        let isSweeping = await self.write { store in
            if begin.startsAnew { try store.beginSweep(ofZone: zone) }
            return try store.isSweeping(zone: zone)
        }
        if isSweeping == true {
            self.state.withLock { _ = $0.sweeping.insert(begin.zoneID.zoneName) }
        }
    }

    private func end(_ end: CKSyncEngine.Event.DidFetchRecordZoneChanges) async {
        let name = end.zoneID.zoneName
        guard let zone = self.file.layout.number(ofZone: name) else { return await self.commit() }
        await self.commit(completing: end.error == nil ? zone : nil)
        self.state.withLock { _ = $0.sweeping.remove(name) }
    }

    /// Writes what is held: a page, the position behind it, and the end of a zone.
    private func commit(completing zone: Int64? = nil) async {
        let (page, position) = self.state.withLock { state in
            defer { (state.page, state.position) = (nil, nil) }
            return (state.page, state.position)
        }
        guard page != nil || position != nil || zone != nil else { return }
        let name = zone.flatMap { self.file.layout.zones[$0] }
        let layout = self.file.layout
        await self.write { store in
            if let page { try store.apply(page, layout) }
            if let zone, let name {
                try store.complete(zone: zone)
                store.events.append(.completed(zone: name))
            }
            if let position { try store.keep(position) }
        }
    }

    // MARK: Sent

    private func take(
        _ sent: CKSyncEngine.Event.SentRecordZoneChanges,
        _ engine: CKSyncEngine
    ) async {
        let layout = self.file.layout
        let outcome = await self.write { store in try store.apply(sent, layout) }
        guard let outcome else { return }
        if !outcome.zonesMissing.isEmpty {
            engine.state.add(
                pendingDatabaseChanges: outcome.zonesMissing.sorted().map {
                    .saveZone(CKRecordZone(zoneName: $0))
                }
            )
        }
        if outcome.isResolved { self.state.withLock { $0.sendsAt = .now } }
    }

    /// Takes the next batch of the queue.
    ///
    /// A deletion has no change tag, so the server would not see that others have changed the
    /// record. The records that are to be deleted are looked at just before.
    private func nextBatch(_ engine: CKSyncEngine) async -> PendingQueue.Batch? {
        let (zones, layout) = (self.file.layout.zones, self.file.layout)
        while !self.isOver {
            let batch = await self.write { store in
                try store.beginTransaction()
                return try PendingQueue(store: store, zones: zones).take()
            }
            guard let batch = batch ?? nil else {
                engine.state.hasPendingUntrackedChanges = false
                // A change may have been written in between.
                await self.notice()
                return nil
            }
            let changed: [CKRecord]
            do {
                changed = try await DeletionCheck(database: engine.database).changed(batch)
            } catch {
                self.state.withLock { $0.sendsAt = .now + Self.checkPause }
                return nil
            }
            if changed.isEmpty { return batch }
            await self.write { store in
                for record in changed { try store.apply(record, layout) }
            }
        }
        return nil
    }

    /// Whether it helps to send again now; the next call says no.
    func takeWish() -> Bool {
        self.state.withLock { state in
            guard let time = state.sendsAt, time <= .now else { return false }
            state.sendsAt = nil
            return true
        }
    }

    // MARK: Account

    private func take(
        _ change: CKSyncEngine.Event.AccountChange,
        _ engine: CKSyncEngine
    ) async {
        // A page of the former user is not written any more.
        self.state.withLock { ($0.page, $0.position) = (nil, nil) }
        let user: String
        switch change.changeType {
        case .signIn(let current), .switchAccounts(_, let current): user = current.recordName
        case .signOut: return
        }
        let isSame = await self.write { store in try store.adopt(user) }
        guard let isSame else { return }
        guard isSame else { return self.stop(.otherAccount(path: self.file.path)) }
        do {
            try self.addZones(to: engine)
        } catch {
            self.hub.report([.waiting("\(error)")])
        }
    }

    // MARK: The file

    /// Writes in one transaction, and waits while the file can't be written.
    ///
    /// - Returns: The body's value; `nil` if the mirror is closed or has stopped.
    @discardableResult
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout RowStore) throws -> Value
    ) async -> Value? {
        var pause = Self.pauseMin
        while !self.isOver {
            do {
                let (tables, policy) = (self.file.layout.tables, self.policy)
                let (value, events) = try await self.file.pool.write { database in
                    try RowStore.applying(database) {
                        var store = RowStore(database, tables: tables, policy: policy)
                        return (try body(&store), store.events)
                    }
                }
                self.hub.report(events)
                return value
            } catch let error as DatabaseError where error.isTemporary {
                self.hub.report([.waiting(error.message ?? error.resultCode.description)])
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, Self.pauseMax)
            } catch {
                self.stop(await self.reason(for: error))
            }
        }
        return nil
    }

    /// Why the file can't be written: a table that was altered, as a rule.
    private func reason(for error: any Error) async -> MirrorError {
        do {
            try await self.checkTables()
        } catch let error as MirrorError {
            return error
        } catch {}
        return .unusable(path: self.file.path, detail: "\(error)")
    }

    /// Checks that the tables and triggers are as they were made.
    ///
    /// - Throws: `MirrorError.tableAltered`, `DatabaseError`.
    func checkTables() async throws {
        let tables = self.file.layout.tables
        try await self.file.pool.read { database in
            for (_, table) in tables.sorted(by: { $0.key < $1.key }) {
                try MirrorLayout.check(database, table)
            }
        }
    }
}

extension DatabaseError {
    /// Whether the file can be written later as it is: another writer, a full disk, a failing one.
    fileprivate var isTemporary: Bool {
        switch self.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN,
            .SQLITE_NOMEM, .SQLITE_INTERRUPT:
            true
        default: false
        }
    }
}
