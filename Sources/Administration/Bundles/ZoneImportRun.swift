package import RecordModel
import RecordStore
import ZoneBundles

/// An import of a bundle that was verified: schema, zones, files, and then the records in pieces.
///
/// If a piece is refused, the zones that the import has made go again.
package struct ZoneImportRun {
    private let database: AdministeredDatabase
    private let bundle: VerifiedBundle
    private let mapping: BundleMapping
    private let container: String
    private let environment: Environment
    private var progress: Progress
    package private(set) var report = ImportReport()
    private var schema: BundleSchema?
    /// Zones that an import makes.
    private var missing: [ZoneSave] = []
    /// Records of zones that are not empty; they have to be the first of the bundle's.
    private var counts: [ZoneID: Int64] = [:]
    /// Assets of the records that are imported; of others none is.
    private var assets: Set<Asset> = []

    package init(
        database: AdministeredDatabase,
        bundle: VerifiedBundle,
        mapping: BundleMapping,
        container: String,
        environment: Environment
    ) {
        self.database = database
        self.bundle = bundle
        self.mapping = mapping
        self.container = container
        self.environment = environment
        self.progress = bundle.progress
    }

    // MARK: Before anything is written

    /// Checks whether the bundle can be imported, and what the import would make.
    package mutating func prepare() async throws {
        let inForce = try self.administered.schema(of: self.environment)
        let schema = try BundleSchema(adding: self.bundle.schema, to: inForce)
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

    private var administered: AdministeredContainer {
        AdministeredContainer(self.container, in: self.database.store)
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

    private mutating func countUsers() throws(AdministrationError) {
        let unmapped = self.bundle.users.filter { self.mapping.users[$0] == nil }
        guard !unmapped.isEmpty else { return }
        let here = try self.administered.users()
        self.report.unknownUsers = unmapped.subtracting(here.map(\.userRecordName)).count
    }

    // MARK: Writing

    package mutating func write() async throws {
        try self.applySchema()
        try await self.makeZones()
        do {
            try await self.writeAssets()
            try await self.writeRecords()
        } catch {
            throw await self.takenBack(after: error)
        }
    }

    private func applySchema() throws(AdministrationError) {
        guard let schema, !schema.added.isEmpty else { return }
        try self.administered.change(.replaceDevelopment(schema.merged))
    }

    private func makeZones() async throws {
        for start in stride(from: 0, to: self.missing.count, by: self.database.bounds.requestItemsMax) {
            let some = Array(self.missing[start...].prefix(self.database.bounds.requestItemsMax))
            let operation = ModifyZones(scope: .private, zoneSaves: some)
            for (zone, outcome) in zip(some, try await self.database.write(.modifyZones(operation))) {
                guard case .failed(let error) = outcome else { continue }
                throw await self.takenBack(after: BundleFailure.zone(zone.id, error))
            }
        }
    }

    private mutating func writeAssets() async throws {
        let files = AssetFiles(in: self.database.folder.assetsPath)
        let inflow = AssetInflow(database: self.database, files: files, path: self.bundle.file.path)
        var progress = self.progress
        let assets = self.assets
        try await self.bundle.forEachAsset { asset, range in
            if assets.contains(asset) { try await inflow.copyIn(asset, range) }
            progress.add(Int(asset.size))
        }
        self.progress = progress
    }

    private mutating func writeRecords() async throws {
        var batch = RestoreBatch(self.database.bounds)
        var progress = self.progress
        var there = self.counts
        let store = self.database.store
        let requester = self.database.requester
        func save(_ records: [Record]) throws {
            guard !records.isEmpty else { return }
            do throws(RestoreRefusal) {
                try store.restore(RestoredRecords(records), for: requester)
            } catch {
                throw BundleFailure.records(error.recordName, error.error)
            }
            progress.add(records.reduce(0) { $0 + $1.body.bytes.count })
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
            throw BundleFailure.participants(error.error)
        }
        self.progress = progress
    }

    /// Deletes the zones that were made, and adds that to the error.
    private func takenBack(after error: any Error) async -> BundleImportStop {
        let itemsMax = self.database.bounds.requestItemsMax
        var isGone = self.missing.count == self.report.zones.count
        for start in stride(from: 0, to: self.missing.count, by: itemsMax) {
            let some = Array(self.missing[start...].prefix(itemsMax))
            let operation = ModifyZones(scope: .private, saves: [], deletes: some.map(\.id))
            if (try? await self.database.write(.modifyZones(operation))) == nil { isGone = false }
        }
        return BundleImportStop(cause: error, areZonesGone: isGone)
    }
}
