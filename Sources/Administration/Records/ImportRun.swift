import RecordJSON
package import RecordModel
import RecordStore
import StorageContract

/// An import: the whole file is checked, and then written a batch at a time.
///
/// A record that refers to one which is not there yet waits for the next reading of the file. Readings
/// go on as long as each of them saves something.
package struct ImportRun {
    private let database: AdministeredDatabase
    private let source: ImportSource
    /// In place of the zones in the text.
    private let zone: ZoneID?
    private let policy: ModifyRecords.Policy
    private let assets: AssetsBeside
    private let isDryRun: Bool
    package private(set) var result = ImportResult()
    private var progress: Progress
    private var superseded: Set<TextPosition> = []
    /// The number of records in the file when it was checked.
    private var records = 0
    /// Zones that a dry run would create.
    private var zonesToCome: Set<ZoneID> = []
    /// The schema, as a dry run would leave it.
    private var schema: SchemaTrial
    private var batch: SaveBatch
    /// Records that wait for a target, by their positions, with the error of the last reading.
    private var waiting: [TextPosition: ItemFailure] = [:]

    /// Makes an import that has not begun.
    ///
    /// `zone` is in place of the zones in the text. `showProgress` gets how many bytes of the file are
    /// read, and how many there are to read.
    package init(
        database: AdministeredDatabase,
        source: ImportSource,
        zone: ZoneID?,
        policy: ModifyRecords.Policy,
        assets: AssetsBeside,
        isDryRun: Bool,
        showProgress: @escaping @Sendable (Int64, Int64) -> Void
    ) {
        self.database = database
        self.source = source
        self.zone = zone
        self.policy = policy
        self.assets = assets
        self.isDryRun = isDryRun
        self.progress = Progress(showProgress)
        self.schema = SchemaTrial(database.store.schemas, for: database.requester)
        self.batch = SaveBatch(database.bounds)
    }

    /// Checks the file, and writes its records.
    ///
    /// - Throws: `ImportStop`, `AssetFolderError`.
    package mutating func run(createsZones: Bool) async throws {
        do {
            try await self.prepare(createsZones: createsZones)
        } catch {
            throw self.stop(error, isChecking: true)
        }
        do {
            try await self.write()
        } catch {
            throw self.stop(error, isChecking: false)
        }
    }

    /// The error of an import, with what was written.
    private func stop(_ error: any Error, isChecking: Bool) -> any Error {
        let cause: ImportStop.Cause
        switch error {
        case let error as RecordFileFault: cause = .file(error)
        case let error as StoreError: cause = .store(error)
        case let error as ImportStop.Cause: cause = error
        default: return error
        }
        return ImportStop(
            file: self.source.file.name,
            cause: cause,
            result: self.result,
            isChecking: isChecking
        )
    }

    // MARK: Before anything is written

    /// Reads the whole file, and creates missing zones.
    private mutating func prepare(createsZones: Bool) async throws {
        var check = ImportCheck()
        var progress = self.progress
        // The file is read twice at least.
        progress.begin(2 * self.source.file.bytes)
        try await self.source.forEach { draft, bytes in
            progress.add(bytes)
            try check.add(draft, as: self.database.id(of: draft, in: self.zone))
        }
        // The size of a pipe is known now.
        progress.extend(to: 2 * self.source.file.bytes)
        self.progress = progress
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
            throw ImportStop.Cause.zonesMissing(missing)
        }
        self.result.zonesCreated = missing.count
        guard !self.isDryRun else {
            if let wrong = missing.first(where: { !NameRules.isItemName($0.zoneName) }) {
                throw ImportStop.Cause.zone(wrong, .nameInvalid(.zone))
            }
            guard known.count + missing.count <= self.database.bounds.zonesMax else {
                throw ImportStop.Cause.zone(first, .tooManyZones)
            }
            self.zonesToCome.formUnion(missing)
            return
        }
        let operation = ModifyZones(scope: .private, saves: missing)
        for (zone, outcome) in zip(missing, try await self.database.write(.modifyZones(operation))) {
            guard case .failed(let error) = outcome else { continue }
            throw ImportStop.Cause.zone(zone, error)
        }
    }

    // MARK: Writing

    private mutating func write() async throws {
        try await self.read(only: nil)
        while !self.waiting.isEmpty {
            let positions = Set(self.waiting.keys)
            try await self.read(only: positions)
            guard self.waiting.count < positions.count else { break }
        }
        for position in self.waiting.keys.sorted() {
            if let failure = self.waiting[position] { self.result.failures.add(failure) }
        }
    }

    /// Reads the file, and writes some of its records, or all.
    private mutating func read(only positions: Set<TextPosition>?) async throws {
        self.waiting = [:]
        var run = self
        var records = 0
        do {
            try await self.source.forEach { draft, bytes in
                run.progress.add(bytes)
                records += 1
                if let positions, !positions.contains(draft.position) { return }
                try await run.add(draft)
            }
            try await run.writeBatch()
            guard records == self.records else { throw ImportStop.Cause.fileChanged }
        } catch {
            self = run
            throw error
        }
        self = run
    }

    private mutating func add(_ draft: RecordDraft) async throws {
        guard !self.superseded.contains(draft.position), !draft.isDeletion,
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
            case .refused(let reason): self.refuse(draft, reason)
            case .save(let save, let isNew):
                if let fault = try await self.assetFault(of: save) {
                    self.refuse(draft, .asset(fault))
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

    private func assetFault(of save: RecordSave) async throws -> AssetFault? {
        guard self.isDryRun else { return try await self.assets.copyIn(save.changes, in: save.id.zone) }
        return nil
    }

    private mutating func save(_ planned: [PlannedImport]) async throws {
        guard !planned.isEmpty else { return }
        guard !self.isDryRun else { return try self.trySaving(planned) }
        let operation = ModifyRecords(
            scope: self.database.requester.scope,
            saves: planned.map(\.save),
            policy: self.policy,
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
        let failure = ItemFailure(record: draft.recordName, line: draft.position.line, error: error)
        switch error {
        case .referenceTargetMissing, .dependsOn: self.waiting[draft.position] = failure
        // The next records would meet it as well.
        case .quotaExceeded, .diskFull: throw error
        default: self.result.failures.add(failure)
        }
    }

    private mutating func refuse(_ draft: RecordDraft, _ reason: ItemFailure.Reason) {
        self.result.failures.add(
            ItemFailure(record: draft.recordName, line: draft.position.line, reason: reason)
        )
    }
}
