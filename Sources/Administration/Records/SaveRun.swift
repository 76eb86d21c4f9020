package import RecordJSON
package import RecordModel
import RecordStore
package import StorageContract

/// Saves the records of a text as they come, a batch at a time.
package struct SaveRun {
    package enum Outcome: Sendable {
        case saved(changeTag: String)
        case failed(ItemFailure)
    }

    package struct Result: Sendable {
        package internal(set) var saved = 0
        package internal(set) var failures = ItemFailures()

        /// Whether there was no record.
        package var isEmpty: Bool { self.saved + self.failures.count == 0 }
    }

    private let database: AdministeredDatabase
    private let file: String
    private let policy: ModifyRecords.Policy
    private let zone: ZoneID?
    private let visit: (RecordDraft, Outcome) -> Void
    private var batch: SaveBatch
    package private(set) var result = Result()

    /// Makes a run that has not begun.
    ///
    /// `file` is for errors, and `zone` in place of the zones in the text. `visit` gets each record once
    /// it is saved or refused.
    package init(
        database: AdministeredDatabase,
        file: String,
        policy: ModifyRecords.Policy,
        zone: ZoneID?,
        visit: @escaping (RecordDraft, Outcome) -> Void
    ) {
        self.database = database
        self.file = file
        self.policy = policy
        self.zone = zone
        self.visit = visit
        self.batch = SaveBatch(database.bounds)
    }

    /// Saves all records of a text.
    ///
    /// - Throws: `SaveStop`.
    package mutating func run(_ reader: some DraftReader) async throws {
        var reader = reader
        var isWithoutRecord = true
        do {
            while let draft = try reader.nextDraft() {
                isWithoutRecord = false
                try await self.add(draft)
            }
            if isWithoutRecord { try reader.refuseWithoutRecord() }
            try await self.writeBatch()
        } catch let fault as RecordFileFault {
            throw self.stop(.file(fault))
        } catch let error as StoreError {
            throw self.stop(.store(error))
        }
    }

    private func stop(_ cause: SaveStop.Cause) -> SaveStop {
        SaveStop(file: self.file, cause: cause, saved: self.result.saved)
    }

    private mutating func add(_ draft: RecordDraft) async throws {
        guard !draft.isDeletion else { throw self.stop(.isDeletion(draft.position)) }
        if !self.batch.hasRoom(for: draft) { try await self.writeBatch() }
        guard self.batch.add(draft, as: self.database.id(of: draft, in: self.zone)) else {
            throw self.stop(.twice(draft.recordName, draft.position))
        }
    }

    private mutating func writeBatch() async throws {
        guard !self.batch.isEmpty else { return }
        let drafts = self.batch.drafts
        self.batch.removeAll()
        let operation = ModifyRecords(
            scope: self.database.requester.scope,
            saves: try await self.saves(drafts),
            policy: self.policy
        )
        let outcomes = try await self.database.write(
            .modifyRecords(operation),
            bytes: operation.saves.reduce(0) { $0 + $1.changes.bytes.count }
        )
        for (draft, outcome) in zip(drafts, outcomes) { self.take(outcome, of: draft) }
    }

    private func saves(_ drafts: [RecordDraft]) async throws -> [RecordSave] {
        let ids = drafts.map { self.database.id(of: $0, in: self.zone) }
        guard self.policy == .allKeys else {
            return zip(drafts, ids).map { $0.save(as: $1, changeTag: $0.changeTag, changes: $0.changes) }
        }
        let existing = try await self.database.fetch(ids)
        return zip(zip(drafts, ids), existing).map { item, outcome in
            var changes = item.0.changes
            if case .record(let record) = outcome { changes = changes.clearingOthers(of: record.body) }
            return item.0.save(as: item.1, changeTag: item.0.changeTag, changes: changes)
        }
    }

    private mutating func take(_ outcome: WriteOutcome, of draft: RecordDraft) {
        switch outcome {
        case .recordSaved(let position, _):
            self.result.saved += 1
            self.visit(draft, .saved(changeTag: ChangeTag.text(of: position)))
        case .failed(let error):
            let failure = ItemFailure(record: draft.recordName, line: draft.position.line, error: error)
            self.result.failures.add(failure)
            self.visit(draft, .failed(failure))
        case .zoneSaved, .subscriptionSaved, .deleted, .shareAccepted, .done: return
        }
    }
}

/// Why a text of records was not saved to its end.
package struct SaveStop: Error, Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        case file(RecordFileFault)
        /// The text says of a record that it was deleted.
        case isDeletion(TextPosition)
        /// A record comes again.
        case twice(String, TextPosition)
        case store(StoreError)
    }

    package let file: String
    package let cause: Cause
    /// The number of records that were saved before it.
    package let saved: Int
}
