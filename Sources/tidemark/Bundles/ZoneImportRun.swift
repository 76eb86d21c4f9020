import AssetStorage
import RecordModel
import RecordStore
import ZoneBundles

/// An import of a bundle that was verified: schema, zones, files, and then the records in pieces.
///
/// If a piece is refused, the zones that the import has made go again.
struct ZoneImportRun {
    let database: AdministeredDatabase
    let bundle: VerifiedBundle
    let mapping: BundleMapping
    let container: String
    let environment: EnvironmentName
    var bar: ProgressBar
    private(set) var report = ImportReport()
    private var schema: BundleSchema?
    /// Zones that an import makes.
    private var missing: [ZoneSave] = []
    /// Records of zones that are not empty; they have to be the first of the bundle's.
    private var counts: [ZoneID: Int64] = [:]
    /// Assets of the records that are imported; of others none is.
    private var assets: Set<Asset> = []

    init(
        database: AdministeredDatabase,
        bundle: VerifiedBundle,
        mapping: BundleMapping,
        container: String,
        environment: EnvironmentName,
        bar: ProgressBar
    ) {
        self.database = database
        self.bundle = bundle
        self.mapping = mapping
        self.container = container
        self.environment = environment
        self.bar = bar
    }

    // MARK: Before anything is written

    /// Looks whether the bundle can be imported, and what the import would make.
    mutating func prepare() async throws {
        let schema = try BundleSchema(adding: self.bundle.schema, to: try self.currentSchema())
        if self.environment == .production { try schema.refuseInProduction() }
        self.report.schemaAdded = schema.added
        self.schema = schema
        try await self.prepareZones()
        try self.countUsers()
        var begun = BegunZones(self.counts, self.database)
        try await self.bundle.forEachRecord { record in
            guard self.mapping.zones[record.id.zone.zoneName] != nil else { return }
            guard let mapped = self.mapping.record(record) else {
                self.report.skipped += 1
                return
            }
            try await begun.add(mapped)
            self.report.records += 1
            self.assets.formUnion(record.body.namedAssets.map(\.asset))
            if record.recordType == ShareRecord.type { self.report.shares += 1 }
        }
        try await begun.finish()
        self.report.alreadyThere = self.counts.values.reduce(0, +)
        self.report.assets = Int64(self.assets.count)
        self.report.isScrambled = self.bundle.description.isScrambled
    }

    private func currentSchema() throws(CommandFailure) -> SchemaDocument {
        do throws(SchemaStoreError) {
            return try self.database.store.schemas.schema(
                ofContainer: self.container,
                environment: self.environment.environment
            )
        } catch {
            throw SchemaAdvice.failure(error, container: self.container)
        }
    }

    private mutating func prepareZones() async throws {
        let names = self.mapping.zones.values.sorted()
        let perZone = Set(
            self.bundle.description.zones.filter(\.isPerZone).compactMap { self.mapping.zones[$0.name] }
        )
        let found = try await self.database.retrying {
            await withCheckedContinuation { continuation in
                self.database.store.recordCounts(ofZones: names, for: self.database.requester) {
                    continuation.resume(returning: $0)
                }
            }
        }
        for (name, count) in zip(names, found) {
            let zone = ZoneID(zoneName: name)
            self.report.zones.append(ImportReport.Zone(name: name, isNew: count == nil))
            if count == nil, !zone.isDefault {
                let scope = perZone.contains(name) ? EncryptionScope.perZone : .perRecord
                self.missing.append(ZoneSave(id: zone, encryptionScope: scope))
            }
            if let count, count > 0 { self.counts[zone] = count }
        }
    }

    private mutating func countUsers() throws(CommandFailure) {
        let unmapped = self.bundle.users.filter { self.mapping.users[$0] == nil }
        guard !unmapped.isEmpty else { return }
        do throws(DirectoryError) {
            let here = try self.database.store.directory.users(ofContainer: self.container)
            self.report.unknownUsers = unmapped.subtracting(here.map(\.userRecordName)).count
        } catch {
            throw DirectoryAdvice.failure(error, container: self.container, user: nil)
        }
    }

    // MARK: Writing

    mutating func write() async throws {
        try self.applySchema()
        try await self.makeZones()
        do {
            try await self.writeAssets()
            try await self.writeRecords()
        } catch {
            self.bar.clear()
            throw await self.takenBack(after: error)
        }
        self.bar.clear()
    }

    private func applySchema() throws(CommandFailure) {
        guard let schema, !schema.added.isEmpty else { return }
        do throws(SchemaStoreError) {
            try self.database.store.schemas.apply(
                .replaceDevelopment(schema.merged),
                inContainer: self.container
            )
        } catch {
            throw SchemaAdvice.failure(error, container: self.container)
        }
    }

    private func makeZones() async throws {
        for start in stride(from: 0, to: self.missing.count, by: self.database.bounds.requestItemsMax) {
            let some = Array(self.missing[start...].prefix(self.database.bounds.requestItemsMax))
            let operation = ModifyZones(scope: .private, zoneSaves: some)
            for (zone, outcome) in zip(some, try await self.database.write(.modifyZones(operation))) {
                guard case .failed(let error) = outcome else { continue }
                throw await self.takenBack(
                    after: RecordAdvice.failure(
                        error,
                        doing: "the zone '\(zone.id.zoneName)' cannot be made"
                    )
                )
            }
        }
    }

    private mutating func writeAssets() async throws {
        let files = AssetFiles(in: self.database.folder.assetsPath)
        let inflow = AssetInflow(database: self.database, files: files, path: self.bundle.file.path)
        var bar = self.bar
        let assets = self.assets
        try await self.bundle.forEachAsset { asset, range in
            if assets.contains(asset) { try await inflow.copyIn(asset, range) }
            bar.add(Int(asset.size))
        }
        self.bar = bar
    }

    private mutating func writeRecords() async throws {
        var batch = RestoreBatch(self.database.bounds)
        var bar = self.bar
        var there = self.counts
        let store = self.database.store
        let requester = self.database.requester
        func save(_ records: [Record]) throws {
            guard !records.isEmpty else { return }
            do throws(RestoreRefusal) {
                try store.restore(RestoredRecords(records), for: requester)
            } catch {
                let what =
                    error.recordName.map { "the record '\($0)' is refused" } ?? "the records are refused"
                throw RecordAdvice.failure(error.error, doing: what)
            }
            bar.add(records.reduce(0) { $0 + $1.body.bytes.count })
        }
        try await self.bundle.forEachRecord { record in
            guard let mapped = self.mapping.record(record) else { return }
            if let count = there[mapped.id.zone], count > 0 {
                there[mapped.id.zone] = count - 1
                return
            }
            try save(batch.add(mapped))
        }
        try save(batch.rest())
        do throws(RestoreRefusal) {
            try store.updateViews()
        } catch {
            throw RecordAdvice.failure(error.error, doing: "the participants cannot be told")
        }
        self.bar = bar
    }

    /// Deletes the zones that were made, and says so in the error.
    private func takenBack(after error: any Error) async -> any Error {
        var failure: CommandFailure
        switch error {
        case let known as CommandFailure: failure = known
        case let known as StoreError: failure = RecordAdvice.failure(known, doing: "the bundle is refused")
        default: failure = CommandFailure(.unavailable, "\(error)")
        }
        let itemsMax = self.database.bounds.requestItemsMax
        var isGone = self.missing.count == self.report.zones.count
        for start in stride(from: 0, to: self.missing.count, by: itemsMax) {
            let some = Array(self.missing[start...].prefix(itemsMax))
            let operation = ModifyZones(scope: .private, saves: [], deletes: some.map(\.id))
            if (try? await self.database.write(.modifyZones(operation))) == nil { isGone = false }
        }
        failure.message +=
            isGone
            ? " The zones of the bundle were deleted again."
            : " Zones that were there before may have a part of the bundle: run the import again, and it continues."
        return failure
    }
}

/// Zones that are not empty, compared with the beginning of the bundle's.
///
/// An import saves records in the order of the bundle, piece by piece. So an interrupted one leaves the
/// first records of each zone, and no others. Any other record is somebody's.
private struct BegunZones {
    private static let batchMax = 400

    private let database: AdministeredDatabase
    /// How many records are to be compared yet.
    private var left: [ZoneID: Int64]
    private var batch: [Record] = []

    init(_ counts: [ZoneID: Int64], _ database: AdministeredDatabase) {
        self.database = database
        self.left = counts
    }

    mutating func add(_ record: Record) async throws {
        guard let count = self.left[record.id.zone], count > 0 else { return }
        self.left[record.id.zone] = count - 1
        // An error names one zone.
        let isOther = self.batch.last.map { $0.id.zone != record.id.zone } ?? false
        if isOther || self.batch.count == Self.batchMax { try await self.compare() }
        self.batch.append(record)
    }

    mutating func finish() async throws {
        try await self.compare()
        // More records than the bundle has.
        if let other = self.left.first(where: { $0.value > 0 })?.key { throw Self.isForeign(other) }
    }

    private mutating func compare() async throws {
        let batch = self.batch
        self.batch = []
        guard let last = batch.last else { return }
        let areThere = try await self.database.retrying {
            await withCheckedContinuation { continuation in
                self.database.store.areRestored(batch, for: self.database.requester) {
                    continuation.resume(returning: $0)
                }
            }
        }
        guard areThere else { throw Self.isForeign(last.id.zone) }
    }

    private static func isForeign(_ zone: ZoneID) -> CommandFailure {
        CommandFailure(
            .data,
            "the zone '\(zone.zoneName)' has records that are not from this bundle or have changed, and a bundle needs "
                + "an empty zone. Delete them, choose another name with --to, or other zones with --zone. "
                + "Nothing was imported."
        )
    }
}

/// Records that are saved together: a share never without its root.
struct RestoreBatch {
    private let itemsMax: Int
    private let bytesMax: Int
    private var records: [Record] = []
    private var bytes = 0

    init(_ bounds: Bounds) {
        self.itemsMax = max(2, bounds.requestItemsMax)
        self.bytesMax = bounds.requestBytesMax * 3 / 4
    }

    /// Adds a record; returns those before it that are to be saved first.
    mutating func add(_ record: Record) -> [Record] {
        let isShareOfRoot =
            record.recordType == ShareRecord.type && record.id.recordName != ShareRecord.zoneWideName
        let isFull =
            self.records.count >= self.itemsMax || self.bytes + record.body.bytes.count > self.bytesMax
        let isOther = self.records.last.map { $0.id.zone != record.id.zone } ?? false
        var full: [Record] = []
        if isFull || isOther {
            let root = isShareOfRoot && !isOther ? self.records.popLast() : nil
            full = self.records
            self.records = root.map { [$0] } ?? []
            self.bytes = root?.body.bytes.count ?? 0
        }
        self.records.append(record)
        self.bytes += record.body.bytes.count
        return full
    }

    mutating func rest() -> [Record] {
        defer { self.records = [] }
        return self.records
    }
}

/// Brings assets from a file with many into the store.
struct AssetInflow {
    let database: AdministeredDatabase
    let files: AssetFiles
    let path: String

    func copyIn(_ asset: Asset, _ range: Range<Int64>) async throws {
        let registry = self.database.store.assets
        let statuses = try await self.database.retrying {
            await withCheckedContinuation { continuation in
                registry.begin([asset], in: nil, for: self.database.requester) {
                    continuation.resume(returning: $0)
                }
            }
        }
        guard let number = statuses.first?.number else { return }
        defer { registry.release([number]) }
        do throws(AssetStoreError) {
            try self.files.makeFolder()
            let stored = StoredAsset(number: number, asset: asset)
            let condition = try self.files.insert(fileAt: self.path, range, as: stored)
            guard condition == .intact else {
                registry.abandon(number)
                throw AssetStoreError.missing
            }
        } catch {
            registry.abandon(number)
            throw CommandFailure(
                .unavailable,
                "an asset cannot be written to \(self.database.folder.assetsPath): \(error)."
            )
        }
        try await self.database.retrying {
            await withCheckedContinuation { continuation in
                registry.complete(number) { continuation.resume(returning: $0) }
            }
        }
    }
}
