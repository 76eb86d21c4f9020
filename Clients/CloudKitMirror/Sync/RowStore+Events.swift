internal import CloudKit
internal import Foundation
internal import GRDB

/// The engine's events, written into the file.
extension RowStore {
    /// The rest of the work after a batch was sent.
    struct SentOutcome: Sendable {
        /// Whether the queue is different now, so that it helps to send again at once.
        var isResolved = false
        var zonesMissing: Set<String> = []
    }

    /// Applies a page of changes of zones or records.
    mutating func apply(_ page: CKSyncEngine.Event, _ layout: MirrorLayout) throws {
        switch page {
        case .fetchedDatabaseChanges(let changes):
            for zone in changes.modifications { try self.noteCreated(zone.zoneID.zoneName) }
            for deletion in changes.deletions {
                let name = deletion.zoneID.zoneName
                guard let zone = layout.number(ofZone: name) else { continue }
                let count = try self.removeZone(zone)
                self.events.append(.imported(zone: name, saved: 0, deleted: count))
            }
        case .fetchedRecordZoneChanges(let changes): try self.apply(changes, layout)
        default: break
        }
    }

    /// Applies a record that was fetched by itself.
    mutating func apply(_ record: CKRecord, _ layout: MirrorLayout) throws {
        let id = record.recordID
        guard let zone = layout.number(ofZone: id.zoneID.zoneName) else { return }
        try self.apply(record, RecordKey(zone: zone, name: id.recordName))
    }

    private mutating func apply(
        _ changes: CKSyncEngine.Event.FetchedRecordZoneChanges,
        _ layout: MirrorLayout
    ) throws {
        let ids = changes.modifications.map(\.record.recordID) + changes.deletions.map(\.recordID)
        guard let name = ids.first?.zoneID.zoneName, let zone = layout.number(ofZone: name) else { return }
        for modification in changes.modifications {
            let record = modification.record
            try self.apply(record, RecordKey(zone: zone, name: record.recordID.recordName))
        }
        for deletion in changes.deletions {
            try self.applyDeletion(RecordKey(zone: zone, name: deletion.recordID.recordName))
        }
        self.events.append(
            .imported(zone: name, saved: changes.modifications.count, deleted: changes.deletions.count)
        )
    }

    /// Applies the results of a batch.
    mutating func apply(
        _ sent: CKSyncEngine.Event.SentRecordZoneChanges,
        _ layout: MirrorLayout
    ) throws -> SentOutcome {
        var outcome = SentOutcome()
        func key(_ id: CKRecord.ID) -> RecordKey? {
            layout.number(ofZone: id.zoneID.zoneName).map { RecordKey(zone: $0, name: id.recordName) }
        }
        for record in sent.savedRecords {
            if let key = key(record.recordID) { try self.saved(record, key) }
        }
        for id in sent.deletedRecordIDs {
            if let key = key(id) { try self.deleted(key) }
        }
        let isAlone =
            sent.savedRecords.count + sent.failedRecordSaves.count + sent.deletedRecordIDs.count
            + sent.failedRecordDeletes.count == 1
        var tooLarge: [(key: RecordKey, id: CKRecord.ID, error: CKError)] = []
        func note(_ failed: Failed, _ id: CKRecord.ID, _ key: RecordKey, _ error: CKError) {
            switch failed {
            case .waits: break
            case .isResolved: outcome.isResolved = true
            case .lacksZone: outcome.zonesMissing.insert(id.zoneID.zoneName)
            case .isTooLarge: tooLarge.append((key, id, error))
            }
        }
        for failure in sent.failedRecordSaves {
            let id = failure.record.recordID
            guard let key = key(id) else { continue }
            note(try self.failed(failure.record, key, failure.error), id, key, failure.error)
        }
        for (id, error) in sent.failedRecordDeletes {
            guard let key = key(id) else { continue }
            note(try self.failed(id, key, error), id, key, error)
        }
        if isAlone, let only = tooLarge.first {
            try self.park(only.key, only.id, only.error)
            outcome.isResolved = true
        } else if !tooLarge.isEmpty {
            try self.split(tooLarge.map(\.key), layout)
            outcome.isResolved = true
        }
        if !sent.savedRecords.isEmpty || !sent.deletedRecordIDs.isEmpty {
            self.events.append(
                .exported(saved: sent.savedRecords.count, deleted: sent.deletedRecordIDs.count)
            )
        }
        return outcome
    }

    /// Lets transactions that are too large for one request be sent in parts.
    private func split(_ keys: [RecordKey], _ layout: MirrorLayout) throws {
        let numbers = try keys.compactMap { key in
            try Int64.fetchOne(
                self.database,
                sql: "SELECT first_transaction FROM tidemark_pending WHERE zone = ? AND name = ?",
                arguments: key.arguments
            )
        }
        let queue = PendingQueue(store: self, zones: layout.zones)
        for number in Set(numbers).sorted() { try queue.split(number) }
    }

    // MARK: State

    /// Begins another local transaction: what is written from now on is not part of earlier ones.
    func beginTransaction() throws {
        try self.execute("UPDATE tidemark_state SET transaction_number = transaction_number + 1", [])
    }

    /// Stores the engine's position.
    func keep(_ position: CKSyncEngine.State.Serialization) throws {
        try self.execute("UPDATE tidemark_state SET engine = ?", [try JSONEncoder().encode(position)])
    }

    func noteCreated(_ zone: String) throws {
        try self.execute("UPDATE tidemark_zone SET is_created = 1 WHERE name = ?", [zone])
    }

    func isSweeping(zone: Int64) throws -> Bool {
        try Bool.fetchOne(
            self.database,
            sql: "SELECT is_sweeping FROM tidemark_zone WHERE number = ?",
            arguments: [zone]
        ) ?? false
    }

    /// Notes the user of the file; the same one who comes back gets everything anew.
    ///
    /// - Returns: Whether the file belongs to the user.
    func adopt(_ user: String) throws -> Bool {
        let found = try String.fetchOne(self.database, sql: "SELECT user FROM tidemark_state")
        guard let found else {
            try self.execute("UPDATE tidemark_state SET user = ?", [user])
            return true
        }
        guard found == user else { return false }
        try MirrorLayout.fetchAnew(self.database)
        return true
    }
}
