import RecordModel
import Testing

@testable import RecordStore

/// Which rows housekeeping removes, in which order, and how many in a transaction.
struct HousekeepingTests {
    private static let first = ZoneKey(database: DatabaseID(rawValue: 1), number: 4)
    private static let second = ZoneKey(database: DatabaseID(rawValue: 2), number: 7)

    // MARK: Sweeping

    @Test func `a deleted zone goes kind by kind, and is forgotten when nothing is left`() throws {
        let rows = HousekeepingModel()
        rows.swept = [SweptZone(zone: Self.first, bytes: 5), SweptZone(zone: Self.second, bytes: 6)]
        rows.contents[Self.first] = [.entries: 2_500, .records: 401, .assetUses: 1, .tokenExpiries: 3]
        var steps = 0
        while try ZoneSweep.step(in: rows) { steps += 1 }
        #expect(rows.removed.map(\.rows) == [1, 200, 200, 1, 1_000, 1_000, 500, 3])
        #expect(
            rows.removed.map(\.kind)
                == [.assetUses, .records, .records, .records, .entries, .entries, .entries, .tokenExpiries]
        )
        #expect(rows.finished == [Self.first, Self.second] && rows.swept.isEmpty)
        #expect(steps == rows.removed.count + 2)
    }

    /// The builder of an index adds entries of the records that it still finds.
    @Test func `the entries of a deleted zone go after its records`() throws {
        let order = SweptRows.allCases
        let records = try #require(order.firstIndex(of: .records))
        let entries = try #require(order.firstIndex(of: .entries))
        #expect(records < entries)
    }

    @Test func `memberships of a share that is gone go before zones, and then the share`() throws {
        let rows = HousekeepingModel()
        rows.swept = [SweptZone(zone: Self.first, bytes: 0)]
        let (gone, other) = (ShareNumber(rawValue: 3), ShareNumber(rawValue: 4))
        try rows.tables.put(ShareRemovalRow(share: gone))
        for record in 1...20 as ClosedRange<Int64> {
            let share = record <= 15 ? gone : other
            try rows.tables.put(MembershipRow(record: record, share: share, since: 1))
        }
        func left(_ share: ShareNumber) throws -> Int {
            try rows.tables.count(RowRange(MembershipRow.byShare, share))
        }
        for rest in [5, 0, 0] {
            #expect(try ZoneSweep.step(in: rows, membershipsMax: 10))
            #expect(try left(gone) == rest && rows.finished.isEmpty)
        }
        #expect(try rows.tables.count(RowRange(ShareRemovalRow.byKey)) == 0)
        #expect(try left(other) == 5)
        #expect(try ZoneSweep.step(in: rows))
        #expect(try !ZoneSweep.step(in: rows))
        #expect(rows.finished == [Self.first])
    }

    // MARK: Outcomes of requests

    @Test func `a pass takes the old outcomes of all databases, and comes again after ten minutes`() throws {
        let rows = HousekeepingModel()
        rows.outcomes = [1: 700, 2: 0, 5: 30]
        var expiry = OutcomeExpiry()
        var transactions = 0
        while expiry.isWanted(nowMilliseconds: 1_000) {
            try expiry.step(olderThanMilliseconds: 10, nowMilliseconds: 1_000, in: rows)
            transactions += 1
        }
        #expect(rows.outcomes == [1: 0, 2: 0, 5: 0])
        #expect(rows.outcomesRemoved == [500, 200, 0, 30])
        #expect(rows.bounds == [RequestID(high: 10 << 16, low: 0)])
        #expect(transactions < 6)
        #expect(!expiry.isWanted(nowMilliseconds: 600_999))
        #expect(expiry.isWanted(nowMilliseconds: 601_000))
    }

    @Test func `between passes a database is looked at for each 250 outcomes`() throws {
        let rows = HousekeepingModel()
        var expiry = OutcomeExpiry()
        while expiry.isWanted(nowMilliseconds: 0) {
            try expiry.step(olderThanMilliseconds: 10, nowMilliseconds: 0, in: rows)
        }
        rows.outcomes = [1: 300]
        expiry.outcomesStored(249)
        try expiry.step(olderThanMilliseconds: 10, nowMilliseconds: 1, in: rows)
        #expect(rows.outcomes == [1: 300])
        // The first look finds the database, the second its outcomes.
        for _ in 0..<2 {
            expiry.outcomesStored(250)
            try expiry.step(olderThanMilliseconds: 10, nowMilliseconds: 1, in: rows)
        }
        #expect(rows.outcomes == [1: 0])
    }

    // MARK: Tombstones

    @Test func `tombstones of records go first, then those of zones, then membership changes`() throws {
        let rows = HousekeepingModel()
        rows.expiring = [
            .tombstones: [Self.first: 250, Self.second: 10], .membershipChanges: [Self.second: 5],
        ]
        rows.zoneTombstones = [1: 3]
        var expiry = TombstoneExpiry(retentionSeconds: 10)
        let now: Int64 = 50_000
        while expiry.isWanted(nowMilliseconds: now) {
            try expiry.step(nowMilliseconds: now, in: rows)
        }
        #expect(
            rows.expired == ["tombstones 200", "tombstones 50", "tombstones 10", "zones 3", "memberships 5"]
        )
        #expect(rows.times == [40_000])
        #expect(!expiry.isWanted(nowMilliseconds: now + 3_599_999))
        #expect(expiry.isWanted(nowMilliseconds: now + 3_600_000))
    }
}

/// Numbers of rows in place of rows.
private final class HousekeepingModel: HousekeepingTransaction {
    let tables: any TableWriter = MemoryTables()
    var swept: [SweptZone] = []
    var contents: [ZoneKey: [SweptRows: Int]] = [:]
    var removed: [(kind: SweptRows, rows: Int)] = []
    var finished: [ZoneKey] = []
    var outcomes: [Int64: Int] = [:]
    var outcomesRemoved: [Int] = []
    var bounds: Set<RequestID> = []
    var expiring: [ExpiringRows: [ZoneKey: Int]] = [:]
    var zoneTombstones: [Int64: Int] = [:]
    var expired: [String] = []
    var times: Set<Int64> = []

    private static func take(_ count: inout Int, limit: Int) -> Int {
        let taken = min(count, limit)
        count -= taken
        return taken
    }

    func nextSweptZone() -> SweptZone? { self.swept.first }

    func remove(_ rows: SweptRows, of zone: ZoneKey, limit: Int) -> Int {
        let taken = Self.take(&self.contents[zone, default: [:]][rows, default: 0], limit: limit)
        if taken > 0 { self.removed.append((rows, taken)) }
        return taken
    }

    func finishSweep(of zone: SweptZone) {
        self.swept.removeAll { $0 == zone }
        self.finished.append(zone.zone)
    }

    func databaseWithOutcomes(after database: DatabaseID?) -> DatabaseID? {
        Self.next(self.outcomes, after: database)
    }

    func removeOutcomes(
        below bound: RequestID,
        in database: DatabaseID,
        limit: Int
    ) -> Int {
        let taken = Self.take(&self.outcomes[database.rawValue, default: 0], limit: limit)
        self.outcomesRemoved.append(taken)
        self.bounds.insert(bound)
        return taken
    }

    func zone(with rows: ExpiringRows, after zone: ZoneKey?) -> ZoneKey? {
        let last = zone.map { ($0.database.rawValue, $0.number) } ?? (.min, .min)
        return (self.expiring[rows] ?? [:]).keys
            .filter { ($0.database.rawValue, $0.number) > last }
            .min { ($0.database.rawValue, $0.number) < ($1.database.rawValue, $1.number) }
    }

    func remove(
        _ rows: ExpiringRows,
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) -> Int {
        let taken = Self.take(&self.expiring[rows, default: [:]][zone, default: 0], limit: limit)
        self.expired.append("\(rows == .tombstones ? "tombstones" : "memberships") \(taken)")
        self.times.insert(time)
        return taken
    }

    func databaseWithZoneTombstones(after database: DatabaseID?) -> DatabaseID? {
        Self.next(self.zoneTombstones, after: database)
    }

    func removeZoneTombstones(
        of database: DatabaseID,
        beforeMilliseconds time: Int64,
        limit: Int
    ) -> Int {
        let taken = Self.take(&self.zoneTombstones[database.rawValue, default: 0], limit: limit)
        self.expired.append("zones \(taken)")
        self.times.insert(time)
        return taken
    }

    private static func next(_ rows: [Int64: Int], after database: DatabaseID?) -> DatabaseID? {
        rows.keys.filter { $0 > database?.rawValue ?? .min }.min().map { DatabaseID(rawValue: $0) }
    }
}
