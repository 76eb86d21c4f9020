import RecordJSON
import RecordModel
import RecordStore

/// An import: the whole file is checked, and then written a batch at a time.
///
/// A record that refers to one which is not there yet waits for the next reading of the file. Readings
/// go on as long as each of them saves something.
struct ImportRun {
    let database: AdministeredDatabase
    let source: ImportSource
    /// In place of the zones in the text.
    let zone: ZoneID?
    let policy: PolicyName
    let assets: AssetsBeside
    let isDryRun: Bool
    private(set) var result = ImportResult()
    private var bar = ProgressBar()
    private var superseded: Set<TextPlace> = []
    /// How many records the file had when it was checked.
    private var records = 0
    /// Zones that a dry run would create.
    private var zonesToCome: Set<ZoneID> = []
    /// The schema, as a dry run would leave it.
    private var schema: SchemaTrial
    private var batch: SaveBatch
    /// Records that wait for a target, by their places, with the error of the last reading.
    private var waiting: [TextPlace: ItemFailure] = [:]

    init(
        database: AdministeredDatabase,
        source: ImportSource,
        zone: ZoneID?,
        policy: PolicyName,
        assets: AssetsBeside,
        isDryRun: Bool
    ) {
        self.database = database
        self.source = source
        self.zone = zone
        self.policy = policy
        self.assets = assets
        self.isDryRun = isDryRun
        self.schema = SchemaTrial(database.store.schemas, for: database.requester)
        self.batch = SaveBatch(database.bounds)
    }

    // MARK: Before anything is written

    /// Reads the whole file, and creates missing zones.
    mutating func prepare(createsZones: Bool) async throws {
        var check = ImportCheck(file: self.source.file.name)
        var bar = ProgressBar()
        // The file is read twice at least.
        bar.totalBytes = 2 * self.source.file.bytes
        try await self.source.forEach(written: { "Nothing was written." }) { draft, bytes in
            bar.add(bytes)
            try check.add(draft, as: self.database.id(of: draft, in: self.zone))
        }
        // The size of a pipe is known now.
        bar.totalBytes = 2 * self.source.file.bytes
        self.bar = bar
        self.superseded = check.superseded
        self.records = check.records
        try await self.prepare(check.zones, createsZones: createsZones)
    }

    private mutating func prepare(_ zones: Set<ZoneID>, createsZones: Bool) async throws {
        let isAssumed = self.database.requester.database == .assumed
        let known: Set<ZoneID> =
            isAssumed ? [.default] : Set(try await self.database.zones().map(self.database.canonical))
        // A database that is not there has no records either.
        if isAssumed { self.zonesToCome = zones }
        let missing = zones.filter { !known.contains(self.database.canonical($0)) }.sorted {
            $0.zoneName < $1.zoneName
        }
        guard let first = missing.first else { return }
        guard createsZones, self.database.requester.scope == .private else {
            throw CommandFailure(
                .data,
                "there is no zone '\(first.zoneName)'"
                    + (missing.count > 1 ? " and \(missing.count - 1) others of the file" : "")
                    + ". Create it in a private database with --create-zones, or name another for all records with --zone. "
                    + "Nothing was written."
            )
        }
        self.result.zonesCreated = missing.count
        guard !self.isDryRun else {
            if let wrong = missing.first(where: { !NameRules.isItemName($0.zoneName) }) {
                throw Self.cannotCreate(wrong, .nameInvalid(.zone))
            }
            guard known.count + missing.count <= self.database.bounds.zonesMax else {
                throw Self.cannotCreate(first, .tooManyZones)
            }
            self.zonesToCome.formUnion(missing)
            return
        }
        let operation = ModifyZones(scope: .private, saves: missing)
        for (zone, outcome) in zip(missing, try await self.database.write(.modifyZones(operation))) {
            guard case .failed(let error) = outcome else { continue }
            throw Self.cannotCreate(zone, error)
        }
    }

    private static func cannotCreate(_ zone: ZoneID, _ error: StoreError) -> CommandFailure {
        RecordAdvice.failure(error, doing: "the zone '\(zone.zoneName)' cannot be created")
    }

    // MARK: Writing

    mutating func write() async throws {
        try await self.read(only: nil)
        while !self.waiting.isEmpty {
            let places = Set(self.waiting.keys)
            try await self.read(only: places)
            guard self.waiting.count < places.count else { break }
        }
        self.bar.clear()
        for place in self.waiting.keys.sorted() {
            if let failure = self.waiting[place] { self.result.failures.add(failure) }
        }
    }

    /// Reads the file, and writes some of its records, or all.
    private mutating func read(only places: Set<TextPlace>?) async throws {
        self.waiting = [:]
        var run = self
        var records = 0
        do {
            try await self.source.forEach(written: { "The import stops, \(run.result.written)." }) {
                draft,
                bytes in
                run.bar.add(bytes)
                records += 1
                if let places, !places.contains(draft.place) { return }
                try await run.add(draft)
            }
            try await run.writeBatch()
            guard records == self.records else { throw self.source.file.hasChanged(run.result.written) }
        } catch {
            self = run
            throw error
        }
        self = run
    }

    private mutating func add(_ draft: RecordDraft) async throws {
        guard !self.superseded.contains(draft.place), !draft.isDeletion,
            draft.recordType != ShareRecord.type, draft.recordType != UserRecord.type
        else {
            self.result.skipped += 1
            return
        }
        if !self.batch.hasRoom(for: draft) { try await self.writeBatch() }
        if !self.batch.add(draft, as: self.database.id(of: draft, in: self.zone)) {
            // Beyond the names that the check compares: it is a conflict with what is written now.
            try await self.writeBatch()
            _ = self.batch.add(draft, as: self.database.id(of: draft, in: self.zone))
        }
    }

    private mutating func writeBatch() async throws {
        guard !self.batch.isEmpty else { return }
        let drafts = self.batch.drafts
        self.batch.removeAll()
        var planned: [PlannedImport] = []
        for (draft, outcome) in zip(drafts, try await self.existing(drafts)) {
            let id = self.database.id(of: draft, in: self.zone)
            switch ImportRule(policy: self.policy).verdict(on: draft, as: id, existing: outcome) {
            case .unchanged: self.result.unchanged += 1
            case .refused(let text): self.refuse(draft, text)
            case .save(let save, let isNew):
                if let fault = try await self.assetFault(of: save) {
                    self.refuse(draft, fault)
                } else {
                    planned.append(PlannedImport(draft: draft, save: save, isNew: isNew))
                }
            }
        }
        try await self.save(planned)
    }

    private func existing(_ drafts: [RecordDraft]) async throws -> [ReadOutcome] {
        let ids = drafts.map { self.database.id(of: $0, in: self.zone) }
        let outcomes = try await self.database.fetch(ids.filter { !self.zonesToCome.contains($0.zone) })
        var next = outcomes.makeIterator()
        return ids.map { id in
            self.zonesToCome.contains(id.zone)
                ? .failed(.recordMissing) : next.next() ?? .failed(.internalFault)
        }
    }

    private func assetFault(of save: RecordSave) async throws -> String? {
        guard self.isDryRun else { return try await self.assets.copyIn(save.changes, in: save.id.zone) }
        return nil
    }

    private mutating func save(_ planned: [PlannedImport]) async throws {
        guard !planned.isEmpty else { return }
        guard !self.isDryRun else { return try self.trySaving(planned) }
        let operation = ModifyRecords(
            scope: self.database.requester.scope,
            saves: planned.map(\.save),
            policy: self.policy.policy,
            isAtomic: false
        )
        let outcomes = try await self.database.write(
            .modifyRecords(operation),
            bytes: operation.saves.reduce(0) { $0 + $1.changes.bytes.count }
        )
        for (item, outcome) in zip(planned, outcomes) {
            switch outcome {
            case .recordSaved: self.count(item)
            case .failed(let error): try self.take(error, of: item.draft)
            case .zoneSaved, .subscriptionSaved, .deleted, .shareAccepted, .done: continue
            }
        }
    }

    private mutating func trySaving(_ planned: [PlannedImport]) throws {
        for item in planned {
            if let error = try self.schema.refusal(of: item.save) {
                try self.take(error, of: item.draft)
            } else {
                self.count(item)
            }
        }
    }

    private mutating func count(_ item: PlannedImport) {
        if item.isNew { self.result.created += 1 } else { self.result.changed += 1 }
    }

    private mutating func take(_ error: StoreError, of draft: RecordDraft) throws {
        let failure = ItemFailure(record: draft.recordName, line: draft.place.line, error: error)
        switch error {
        case .referenceTargetMissing, .dependsOn: self.waiting[draft.place] = failure
        // The next records would meet it as well.
        case .quotaExceeded, .diskFull: throw error
        default: self.result.failures.add(failure)
        }
    }

    private mutating func refuse(_ draft: RecordDraft, _ text: String) {
        self.result.failures.add(ItemFailure(record: draft.recordName, line: draft.place.line, text: text))
    }
}

/// A record that an import saves.
struct PlannedImport {
    var draft: RecordDraft
    var save: RecordSave
    var isNew: Bool
}

/// Decides what an import does with a record, by what is there.
struct ImportRule {
    enum Verdict {
        case unchanged
        case save(RecordSave, isNew: Bool)
        /// The text says what to do.
        case refused(String)
    }

    let policy: PolicyName

    func verdict(on draft: RecordDraft, as id: RecordID, existing: ReadOutcome) -> Verdict {
        switch existing {
        case .failed(.recordMissing):
            // The tag of the file is that of another place, or of a record that was deleted.
            return .save(draft.save(as: id, changeTag: nil, changes: draft.changes), isNew: true)
        case .failed(let error): return .refused(RecordAdvice.text(error))
        case .record(let record): return self.verdict(on: draft, as: id, existing: record)
        case .zone, .shareMetadata, .identity, .explanation: return .refused("The store gave another answer.")
        }
    }

    private func verdict(on draft: RecordDraft, as id: RecordID, existing: Record) -> Verdict {
        guard existing.recordType == draft.recordType else {
            return .refused(
                "The record that is there has the type \(existing.recordType), which a record keeps for life."
            )
        }
        var draft = draft
        if self.policy == .allKeys {
            draft.changes = draft.changes.clearingOthers(of: existing.body)
            if draft.parent == .unchanged, existing.parent != nil { draft.parent = .removed }
        }
        guard existing.body.merging(draft.changes) != existing.body || draft.changesParent(of: existing)
        else {
            return .unchanged
        }
        if self.policy == .ifUnchanged, draft.changeTag != existing.changeTag {
            return .refused(
                "It differs from the record that is there, with the change tag \(existing.changeTag). "
                    + "Merge and name this tag, or say --policy changed-keys to overwrite its fields."
            )
        }
        return .save(draft.save(as: id, changeTag: existing.changeTag, changes: draft.changes), isNew: false)
    }
}

extension RecordDraft {
    fileprivate func changesParent(of record: Record) -> Bool {
        switch self.parent {
        case .unchanged: false
        case .removed: record.parent != nil
        case .set(let name): !ExactName.areSame(record.parent, name)
        }
    }
}
