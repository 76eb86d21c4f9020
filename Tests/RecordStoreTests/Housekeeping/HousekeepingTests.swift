import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Which rows housekeeping removes, in which order, and how many in a transaction.
struct HousekeepingTests {
    private static let first = ZoneKey(database: DatabaseID(rawValue: 1), number: 4)
    private static let second = ZoneKey(database: DatabaseID(rawValue: 2), number: 7)
    private static let other = ZoneKey(database: DatabaseID(rawValue: 1), number: 5)

    // MARK: Sweeping

    @Test func `a deleted zone goes kind by kind, and is forgotten when nothing is left`() throws {
        let rows = HousekeepingModel()
        try rows.sweep(Self.first, bytes: 5)
        try rows.sweep(Self.second, bytes: 6)
        rows.contents[Self.first] = [.entries: 2_500, .records: 401]
        let tables = rows.double.tables
        for reader in 1...3 as ClosedRange<Int64> {
            let reader = DatabaseID(rawValue: reader)
            try tables.put(TokenExpiryRow(zone: Self.first, reader: reader, through: 1))
            try tables.put(TokenExpiryRow(zone: Self.other, reader: reader, through: 1))
        }
        let record = RecordKey(zone: Self.first, number: 1)
        try tables.put(AssetUseRow(of: AssetNumber(rawValue: 9), by: record))
        try tables.put(ShareTokenRow(token: "t", zone: Self.first, root: "", participant: ""))
        var counts: [[Int]] = []
        while try ZoneSweep.step(in: rows) {
            counts.append([
                try tables.count(RowRange(AssetUseRow.byKey)), rows.removed.count,
                try tables.count(RowRange(ShareTokenRow.byKey)),
                try tables.count(RowRange(TokenExpiryRow.byKey)),
            ])
        }
        #expect(rows.removed.map(\.rows) == [200, 200, 1, 1_000, 1_000, 500])
        #expect(
            rows.removed.map(\.kind) == [.records, .records, .records, .entries, .entries, .entries]
        )
        // Uses of assets go first, then the records, and rows of shares last.
        #expect(counts.prefix(2) == [[0, 0, 1, 6], [0, 1, 1, 6]])
        #expect(
            counts.suffix(5) == [[0, 6, 1, 6], [0, 6, 0, 6], [0, 6, 0, 3], [0, 6, 0, 3], [0, 6, 0, 3]]
        )
        #expect(try tables.count(RowRange(SweepRow.byKey)) == 0)
        #expect(rows.double.databaseBytes == [Self.first.database: -5, Self.second.database: -6])
    }

    /// The builder of an index adds entries of the records that it still finds.
    @Test func `the entries of a deleted zone go after its records`() throws {
        let order = SweptRows.order
        let records = try #require(order.firstIndex(of: .undeclared(.records)))
        let entries = try #require(order.firstIndex(of: .undeclared(.entries)))
        #expect(records < entries)
    }

    @Test func `memberships of a share that is gone go before zones, and then the share`() throws {
        let rows = HousekeepingModel()
        try rows.sweep(Self.first, bytes: 0)
        let (gone, other) = (ShareNumber(rawValue: 3), ShareNumber(rawValue: 4))
        try rows.double.tables.put(ShareRemovalRow(share: gone))
        for record in 1...20 as ClosedRange<Int64> {
            let share = record <= 15 ? gone : other
            try rows.double.tables.put(MembershipRow(record: record, share: share, since: 1))
        }
        func left(_ share: ShareNumber) throws -> Int {
            try rows.double.tables.count(RowRange(MembershipRow.byShare, share))
        }
        for rest in [5, 0, 0] {
            #expect(try ZoneSweep.step(in: rows, membershipsMax: 10))
            #expect(try left(gone) == rest && rows.zonesSwept == 1)
        }
        #expect(try rows.double.tables.count(RowRange(ShareRemovalRow.byKey)) == 0)
        #expect(try left(other) == 5)
        #expect(try ZoneSweep.step(in: rows))
        #expect(try !ZoneSweep.step(in: rows))
        #expect(try rows.zonesSwept == 0)
    }

    // MARK: Outcomes of requests

    @Test func `a pass takes the old outcomes of all databases, and comes again after ten minutes`() throws {
        let rows = HousekeepingModel()
        try rows.setOutcomes([1: 700, 5: 30], milliseconds: 9)
        try rows.setOutcomes([2: 600, 5: 7], milliseconds: 10)
        var expiry = OutcomeExpiry()
        var transactions = 0
        rows.double.nowMilliseconds = 1_000
        while expiry.isWanted(nowMilliseconds: 1_000) {
            try expiry.step(olderThanMilliseconds: 10, in: rows.double)
            transactions += 1
        }
        #expect(try rows.outcomes() == [2: 600, 5: 7])
        let (first, last) = (DatabaseID(rawValue: 1), DatabaseID(rawValue: 5))
        let bytes = RowBytes.outcome(1)
        #expect(rows.double.databaseBytes == [first: -700 * bytes, last: -30 * bytes])
        #expect(transactions < 6)
        #expect(!expiry.isWanted(nowMilliseconds: 600_999))
        #expect(expiry.isWanted(nowMilliseconds: 601_000))
    }

    @Test func `one transaction takes at most 500 outcomes`() throws {
        let rows = HousekeepingModel()
        try rows.setOutcomes([1: 700])
        var expiry = OutcomeExpiry()
        try expiry.step(olderThanMilliseconds: 10, in: rows.double)
        #expect(try rows.outcomes() == [1: 200])
        try expiry.step(olderThanMilliseconds: 10, in: rows.double)
        #expect(try rows.outcomes() == [:])
    }

    @Test func `between passes a database is looked at for each 250 outcomes`() throws {
        let rows = HousekeepingModel()
        var expiry = OutcomeExpiry()
        rows.double.nowMilliseconds = 0
        while expiry.isWanted(nowMilliseconds: 0) {
            try expiry.step(olderThanMilliseconds: 10, in: rows.double)
        }
        try rows.setOutcomes([1: 300])
        rows.double.knowledge.outcomesStored = 249
        try expiry.step(olderThanMilliseconds: 10, in: rows.double)
        #expect(try rows.outcomes() == [1: 300])
        // The first look finds the database, the second its outcomes.
        for _ in 0..<2 {
            rows.double.knowledge.outcomesStored += 250
            try expiry.step(olderThanMilliseconds: 10, in: rows.double)
            #expect(rows.double.knowledge.outcomesStored == 0)
        }
        #expect(try rows.outcomes() == [:])
    }

    // MARK: Tombstones

    @Test func `tombstones of records go first, then those of zones, then membership changes`() throws {
        let rows = HousekeepingModel()
        rows.tombstones = [Self.first: 250, Self.second: 10]
        let tables = rows.double.tables
        for database in [Self.first, Self.second].map(\.database) {
            var row = DatabaseRow(
                environment: EnvironmentID(rawValue: 1),
                scope: .private,
                owner: UserNumber(rawValue: database.rawValue),
                position: 0,
                epoch: 0,
                stored: StoredAmount()
            )
            row.number = database
            try tables.put(row)
        }
        // Deleted at 30 and 39 seconds, and at 40, which is not before.
        for (position, second) in [(3, 30), (300, 39), (301, 40)] as [(Int64, Int64)] {
            try tables.put(
                [[.integer(1), .integer(position), .text("z"), .integer(5), .integer(second * 1_000)]],
                in: ZoneTombstoneRow.table
            )
        }
        // Tombstones of this database are gone up to position 10.
        for position in 8...12 as ClosedRange<Int64> {
            let change = MembershipChange(
                position: position,
                share: ShareNumber(rawValue: 1),
                isArrival: true,
                record: 1,
                name: "n",
                recordType: "Note"
            )
            try tables.put(
                [MembershipChangeRow(change, in: Self.second, type: 1).values],
                in: MembershipChangeRow.table
            )
        }
        try tables.put(ZoneRow(database: Self.second.database, name: "here", number: Self.second.number))
        var expiry = TombstoneExpiry(retentionSeconds: 10)
        let now: Int64 = 50_000
        while expiry.isWanted(nowMilliseconds: now) {
            try expiry.step(nowMilliseconds: now, in: rows)
        }
        #expect(rows.expired == [200, 50, 10])
        #expect(rows.times == [40_000])
        #expect(try tables.rows(RowRange(ZoneTombstoneRow.byKey)).map(\.position) == [301])
        #expect(try tables.rows(RowRange(MembershipChangeRow.byKey)).map(\.position) == [11, 12])
        let gone = try tables.rows(RowRange(DatabaseRow.byKey)).map(\.tombstonesGoneThrough)
        #expect(gone == [300, 10])
        // A swept zone counts as a whole.
        let bytes = -10 * HousekeepingModel.tombstoneBytes - 3 * RowBytes.coverChange(named: "n")
        #expect(rows.double.zoneBytes == [Self.second: bytes])
        let ofZones = -2 * RowBytes.zoneTombstone(named: "z")
        #expect(rows.double.databaseBytes == [Self.first.database: ofZones])
        #expect(!expiry.isWanted(nowMilliseconds: now + 3_599_999))
        #expect(expiry.isWanted(nowMilliseconds: now + 3_600_000))
    }
}
