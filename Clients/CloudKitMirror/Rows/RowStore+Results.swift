internal import CloudKit
internal import Foundation
internal import GRDB

/// The results of changes that were sent, and what becomes of parked ones.
extension RowStore {
    /// The work after a change that failed.
    enum Failed {
        /// It waits: the engine sends again by itself.
        case waits
        /// The rows or the queue are different now, so it helps to send again at once.
        case isResolved
        /// Its zone is missing.
        case lacksZone
        /// Its batch was too large.
        case isTooLarge
    }

    /// Notes that the server has a row as it was sent; what was changed meanwhile stays pending.
    func saved(_ record: CKRecord, _ key: RecordKey) throws {
        try self.keep(record, key, isSaved: true)
        guard let statements = self.statements(of: record.recordType),
            let mine = try statements.row(self.database, key)
        else { return try self.keepPending(key) }
        try statements.put(self.database, key, mine, of: record)
        if mine == statements.table.values(of: record) {
            try self.settle(key)
        } else {
            try self.keepPending(key)
        }
    }

    /// Notes that the server has deleted a record; one that was inserted again stays pending.
    func deleted(_ key: RecordKey) throws {
        try self.forget(key)
        guard let pending = try self.pending(key), let statements = self.statements(of: pending.type),
            try statements.row(self.database, key) != nil
        else { return try self.settle(key) }
        try self.keepPending(key)
    }

    /// Handles the error of a save.
    mutating func failed(_ record: CKRecord, _ key: RecordKey, _ error: CKError) throws -> Failed {
        switch error.code {
        case .serverRecordChanged:
            guard let server = error.serverRecord else { return .waits }
            guard server.recordType == record.recordType else {
                try self.park(key, record.recordID, error)
                return .isResolved
            }
            try self.apply(server, key)
            return .isResolved
        case .unknownItem:
            try self.applyDeletion(key)
            return .isResolved
        default: return try self.failed(record.recordID, key, error)
        }
    }

    /// Handles the error of a deletion, or of a save that fails as a deletion does.
    mutating func failed(_ id: CKRecord.ID, _ key: RecordKey, _ error: CKError) throws -> Failed {
        switch error.code {
        case .unknownItem:
            try self.deleted(key)
            return .isResolved
        case .zoneNotFound, .userDeletedZone: return .lacksZone
        case .limitExceeded: return .isTooLarge
        case .batchRequestFailed: return .waits
        default:
            guard error.isRefusal else { return .waits }
            try self.park(key, id, error)
            return .isResolved
        }
    }

    /// Parks a change that the server has refused.
    mutating func park(_ key: RecordKey, _ id: CKRecord.ID, _ error: CKError) throws {
        try self.execute(
            """
            UPDATE tidemark_pending SET error_code = ?, error = ?, position = NULL,
                first_transaction = last_transaction
            WHERE zone = ? AND name = ?
            """,
            [error.code.rawValue, error.localizedDescription, key.zone, key.name]
        )
        try self.forgetSent(key)
        self.events.append(.parked(recordID: id, error: error))
    }

    /// Replaces each parked row by what the server has.
    ///
    /// - Returns: How many.
    func discardParked() throws -> Int {
        let rows = try Row.fetchAll(
            self.database,
            sql: "SELECT zone, name, type FROM tidemark_pending WHERE error_code IS NOT NULL"
        )
        for row in rows {
            let key = RecordKey(zone: row["zone"], name: row["name"])
            guard let statements = self.statements(of: row["type"]) else { continue }
            if let ancestor = try self.ancestor(key), ancestor.type == statements.table.recordType {
                let values = statements.table.values(of: ancestor.record)
                try statements.put(self.database, key, values, of: ancestor.record)
            } else {
                try statements.remove(self.database, key)
            }
            try self.settle(key)
        }
        return rows.count
    }
}

extension CKError {
    /// Whether the server will refuse the same change again, for a reason in the change.
    ///
    /// Any other error is of the connection, the account or the server: the change waits.
    fileprivate var isRefusal: Bool {
        switch self.code {
        case .permissionFailure, .invalidArguments, .serverRejectedRequest, .constraintViolation,
            .referenceViolation, .quotaExceeded, .assetFileNotFound, .assetFileModified,
            .assetNotAvailable, .unknownItem, .alreadyShared:
            true
        default: false
        }
    }
}
