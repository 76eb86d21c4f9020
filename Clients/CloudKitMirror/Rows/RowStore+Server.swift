internal import CloudKit
internal import Foundation
internal import GRDB

/// Changes from the server: saved and deleted records, and the end of a fetch of everything.
extension RowStore {
    /// Applies a record as the server has it.
    mutating func apply(_ record: CKRecord, _ key: RecordKey) throws {
        let ancestor = try self.ancestor(key)
        if let ancestor, ancestor.type != record.recordType {
            // The record was deleted, and another one has its name.
            try self.applyDeletion(key)
        }
        guard let statements = self.statements(of: record.recordType) else { return }
        if let ancestor, ancestor.record.recordChangeTag == record.recordChangeTag {
            // It was sent from here, or comes again.
            return try self.see(key)
        }
        guard let pending = try self.pending(key), pending.type == record.recordType else {
            try statements.put(self.database, key, statements.table.values(of: record), of: record)
            return try self.keep(record, key)
        }
        let known = ancestor?.type == record.recordType ? ancestor?.record : nil
        if let mine = try statements.row(self.database, key) {
            try self.merge(record, key, pending, mine: mine, since: known, statements)
        } else {
            try self.restore(record, key, since: known, statements)
        }
    }

    /// Merges a record into a row that was changed here.
    private mutating func merge(
        _ record: CKRecord,
        _ key: RecordKey,
        _ pending: Pending,
        mine: RowValues,
        since ancestor: CKRecord?,
        _ statements: TableStatements
    ) throws {
        let table = statements.table
        let theirs = table.values(of: record)
        let merge = Merge(
            ancestor: ancestor.map { table.values(of: $0) },
            mine: mine,
            theirs: theirs,
            sent: try self.sent(key, of: table),
            winner: self.winner(pending, record)
        )
        for conflict in merge.conflicts {
            try self.noteConflict(
                key,
                table.recordType,
                column: table.ownColumns[conflict.column],
                ancestor: conflict.ancestor,
                mine: conflict.mine,
                theirs: conflict.theirs,
                winner: self.winner(pending, record)
            )
        }
        if !merge.conflicts.isEmpty {
            let columns = merge.conflicts.map { table.ownColumns[$0.column] }
            self.events.append(.overruled(recordID: record.recordID, columns: columns))
        }
        try statements.put(self.database, key, merge.row, of: record)
        try self.keep(record, key)
        if merge.row == theirs { try self.settle(key) } else { try self.forgetSent(key) }
    }

    private func winner(_ pending: Pending, _ record: CKRecord) -> Merge.Side {
        switch self.policy {
        case .server: return .theirs
        case .client: return .mine
        case .fieldwise:
            let theirs = (record.modificationDate?.timeIntervalSince1970 ?? 0) * 1_000
            return Double(pending.changedMilliseconds) > theirs ? .mine : .theirs
        }
    }

    /// Applies a record that was deleted here, and changed on the server meanwhile.
    private mutating func restore(
        _ record: CKRecord,
        _ key: RecordKey,
        since ancestor: CKRecord?,
        _ statements: TableStatements
    ) throws {
        let table = statements.table
        let theirs = table.values(of: record)
        let sent = try self.sent(key)
        // The deletion took effect, and the record was created again.
        let isAnother = sent[""] != nil && ancestor?.creationDate != record.creationDate
        // A row that was never sent has no part in the server's record.
        let isUnrelated = ancestor == nil && sent.isEmpty
        if isAnother || isUnrelated || self.policy == .server {
            try statements.put(self.database, key, theirs, of: record)
            try self.settle(key)
        } else {
            try self.forgetSent(key)
        }
        try self.keep(record, key)
        guard !isAnother, !isUnrelated, ancestor != nil else { return }
        try self.noteConflict(
            key,
            table,
            ancestor: ancestor.map { table.values(of: $0) },
            mine: nil,
            theirs: theirs,
            winner: self.policy == .server ? .theirs : .mine
        )
        self.events.append(.overruled(recordID: record.recordID, columns: []))
    }

    /// Applies the deletion of a record on the server.
    ///
    /// - Returns: Whether there was such a record.
    @discardableResult
    mutating func applyDeletion(_ key: RecordKey) throws -> Bool {
        // A record that the server never had from here may have a name that it once had.
        guard let ancestor = try self.ancestor(key) else { return false }
        try self.forget(key)
        guard let statements = self.statements(of: ancestor.type) else { return true }
        let table = statements.table
        let mine = try statements.row(self.database, key)
        let isPending = try self.pending(key) != nil
        // The deletion may be by a client that has not seen what was just saved from here.
        guard let mine, isPending || ancestor.isFresh else {
            try statements.remove(self.database, key)
            try self.settle(key)
            return true
        }
        let winner: Merge.Side = isPending && self.policy == .client ? .mine : .theirs
        try self.noteConflict(
            key,
            table,
            ancestor: table.values(of: ancestor.record),
            mine: mine,
            theirs: nil,
            winner: winner
        )
        self.events.append(.overruled(recordID: ancestor.record.recordID, columns: []))
        if winner == .theirs {
            try statements.remove(self.database, key)
            try self.settle(key)
        } else {
            try self.forgetSent(key)
        }
        return true
    }

    // MARK: Zones

    /// Begins to fetch everything in a zone, and marks what comes.
    func beginSweep(ofZone zone: Int64) throws {
        try self.execute(
            "UPDATE tidemark_zone SET generation = generation + 1, is_sweeping = 1 WHERE number = ?",
            [zone]
        )
    }

    /// Ends a fetch of a zone: after one of everything, records that did not come are deleted.
    ///
    /// A local change stays: the server may have lost the record, so that it is sent as a new one.
    mutating func complete(zone: Int64) throws {
        let isSweeping = try Bool.fetchOne(
            self.database,
            sql: "SELECT is_sweeping FROM tidemark_zone WHERE number = ?",
            arguments: [zone]
        )
        if isSweeping == true {
            let keys = try Row.fetchAll(
                self.database,
                sql: """
                    SELECT r.zone, r.name FROM tidemark_record r JOIN tidemark_zone z ON z.number = r.zone
                    WHERE r.zone = ? AND r.generation < z.generation
                    """,
                arguments: [zone]
            )
            for row in keys {
                try self.sweep(RecordKey(zone: row["zone"], name: row["name"]))
            }
        }
        try self.execute(
            """
            UPDATE tidemark_zone SET
                is_sweeping = 0, is_complete = 1, is_created = 1, fetches = fetches + 1
            WHERE number = ?
            """,
            [zone]
        )
    }

    private mutating func sweep(_ key: RecordKey) throws {
        guard let ancestor = try self.ancestor(key), let statements = self.statements(of: ancestor.type),
            try self.pending(key) != nil, try statements.row(self.database, key) != nil
        else {
            try self.applyDeletion(key)
            return try self.forget(key)
        }
        try self.forget(key)
        try self.forgetSent(key)
    }

    /// Applies the deletion of a zone.
    ///
    /// - Returns: How many records it had.
    mutating func removeZone(_ zone: Int64) throws -> Int {
        let names = try String.fetchAll(
            self.database,
            sql: "SELECT name FROM tidemark_record WHERE zone = ?",
            arguments: [zone]
        )
        for name in names { try self.applyDeletion(RecordKey(zone: zone, name: name)) }
        try self.execute(
            "UPDATE tidemark_zone SET is_sweeping = 0, is_complete = 1 WHERE number = ?",
            [zone]
        )
        return names.count
    }
}
