import RecordModel
import StorageContract

/// Compares everything in a store that follows from something else, page by page, while servers write.
///
/// Each page is one snapshot, so no transaction is long. Nothing is changed.
package struct StoreVerification: Sendable {
    /// How often a zone that changes is counted again.
    private static let triesMax = 3
    private static let pageMax = 200

    /// The identifier of the only container to look at; `nil` for all.
    private let container: String?
    /// Rows, and kibibytes of bodies, of one snapshot.
    package var workMax = 4_000
    /// Called between two snapshots with the work of the last one, to wait as long as the rate demands.
    package var pause: @Sendable (_ work: Int) async throws -> Void = { _ in }
    /// Gets how many records were read, and how many there are.
    package var progress: @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in }

    private let engine: any StorageEngine

    package init(_ store: Store, container: String? = nil) {
        self.engine = store.engine
        self.container = container
    }

    package func run() async throws -> StoreVerified {
        var verified = StoreVerified()
        let databases = try await self.databases()
        let total = databases.reduce(0) { $0 + max(0, $1.records) }
        for database in databases {
            try await self.check(database, total, &verified)
            verified.databases += 1
        }
        try await self.checkAssets(&verified)
        return verified
    }

    // MARK: Databases

    private struct Located: Sendable {
        var number: DatabaseID
        var environment: EnvironmentID
        var place: StoreFinding.Place
        var records: Int64
    }

    private func databases() async throws -> [Located] {
        let container = self.container
        return try await self.read { (snapshot) throws(StorageFailure) in
            var found: [Located] = []
            try snapshot.visit(RowRange(DatabaseRow.byKey)) { (row) throws(StorageFailure) in
                let place = try Self.place(of: row, in: snapshot)
                guard container == nil || place.container == container else { return }
                found.append(
                    Located(
                        number: row.number,
                        environment: row.environment,
                        place: place,
                        records: row.stored.records
                    )
                )
            }
            return found
        }
    }

    private static func place(
        of database: DatabaseRow,
        in rows: any TableReader
    ) throws(StorageFailure) -> StoreFinding.Place {
        var place = StoreFinding.Place()
        let environment = try rows.row(EnvironmentRow.byKey, database.environment)
        place.environment = environment?.kind
        place.container = try environment.flatMap { (row) throws(StorageFailure) in
            try rows.row(ContainerRow.byKey, row.container)?.identifier
        }
        place.scope = database.scope
        place.owner = try rows.row(UserRow.byKey, database.owner)?.recordName
        return place
    }

    private func check(
        _ database: Located,
        _ total: Int64,
        _ verified: inout StoreVerified
    ) async throws {
        var sums = DatabaseCheck(database.number, at: database.place)
        var last: String?
        while true {
            let after = last
            let zones = try await self.reading(database.place, &verified) {
                (snapshot) throws(StorageFailure) in
                var range = RowRange(ZoneRow.byKey, database.number)
                if let after { range = range.after(after) }
                return try snapshot.rows(range, limit: Self.pageMax)
            }
            for zone in zones ?? [] where zone.targetDatabase == nil {
                guard let check = try await self.check(zone, of: database, total, &verified) else { continue }
                sums.lastPosition = max(sums.lastPosition, check.lastPosition)
                sums.counted.add(check.missing)
            }
            verified.zones += zones?.count ?? 0
            guard let zones, zones.count == Self.pageMax else { break }
            last = zones.last?.name
        }
        let found = sums
        let findings = try await self.reading(database.place, &verified) {
            (snapshot) throws(StorageFailure) in
            var check = found
            try check.run(in: snapshot)
            return check.findings
        }
        verified.add(findings ?? [])
        try await self.pause(1)
    }

    /// - Returns: The finished check; `nil` if the zone changes all the time, or cannot be read.
    private func check(
        _ zone: ZoneRow,
        of database: Located,
        _ total: Int64,
        _ verified: inout StoreVerified
    ) async throws -> ZoneCheck? {
        var place = database.place
        place.zone = zone.name
        let (before, bytes, workMax) = (verified.records, verified.recordBytes, self.workMax)
        for _ in 1...Self.triesMax {
            var check = ZoneCheck(zone, in: database.environment, at: place)
            while !check.isAtEnd {
                let current = check
                let next = try await self.reading(place, &verified) { (snapshot) throws(StorageFailure) in
                    var check = current
                    try check.goOn(in: CheckedSnapshot(snapshot), workMax: workMax)
                    return check
                }
                guard let next else { return nil }
                let work = next.work - check.work
                check = next
                verified.records = before + check.counted.records
                verified.recordBytes = bytes + check.counted.recordBytes
                self.progress(verified.records, max(total, verified.records))
                try await self.pause(work)
            }
            verified.add(check.findings)
            if check.isStable { return check }
        }
        verified.uncounted.append(place)
        return nil
    }

    // MARK: Assets

    private func checkAssets(_ verified: inout StoreVerified) async throws {
        var next: AssetNumber? = AssetNumber(rawValue: 0)
        let container = self.container
        while let after = next {
            let page = try await self.reading(StoreFinding.Place(), &verified) {
                (snapshot) throws(StorageFailure) in
                try AssetRowCheck.page(after: after, snapshot) { (number) throws(StorageFailure) in
                    guard let row = try snapshot.row(DatabaseRow.byKey, number) else { return .init() }
                    return try Self.place(of: row, in: snapshot)
                }
            }
            let findings = (page?.findings ?? []).filter {
                container == nil || $0.place.container == container
            }
            verified.add(findings)
            next = page?.next
            try await self.pause(AssetRowCheck.pageMax)
        }
    }

    // MARK: Reads

    /// Reads in one snapshot; rows that cannot be read are a finding, and the result is `nil`.
    private func reading<Value: Sendable>(
        _ place: StoreFinding.Place,
        _ verified: inout StoreVerified,
        _ read: @escaping @Sendable (any Snapshot) throws(StorageFailure) -> Value
    ) async throws -> Value? {
        do {
            return try await self.read(read)
        } catch StoreError.internalFault {
            verified.add([StoreFinding(.rowsUnreadable, at: place)])
            return nil
        }
    }

    /// Reads in one snapshot.
    ///
    /// - Throws: `StoreError`; `internalFault` if rows cannot be read.
    private func read<Value: Sendable>(
        _ read: @escaping @Sendable (any Snapshot) throws(StorageFailure) -> Value
    ) async throws(StoreError) -> Value {
        let requester = Requester(
            database: DatabaseID(rawValue: 0),
            scope: .shared,
            environment: EnvironmentID(rawValue: 0),
            userRecordName: nil
        )
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            let job = ReadJob(requester: requester, effort: .long) {
                (snapshot, _) throws(StorageFailure) in
                let value = try read(snapshot)
                return { continuation.resume(returning: .success(value)) }
            } fail: { failure in
                continuation.resume(returning: .failure(StoreError(failure)))
            }
            self.engine.read(job)
        }
        return try result.get()
    }
}
