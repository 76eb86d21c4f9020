import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// The order and the times of housekeeping's kinds of work.
struct HousekeepingOrderTests {
    private let rows = HousekeepingModel()
    private let housekeeping: Housekeeping
    private static let zone = ZoneKey(database: DatabaseID(rawValue: 1), number: 4)

    init() {
        var rules = HousekeepingRules()
        rules.requestIDRetentionSeconds = 10
        rules.tombstoneRetentionSeconds = 10
        self.housekeeping = Housekeeping(rules)
    }

    /// Does what is due by the clock, so that it is out of the way.
    private func passTime() throws {
        while self.housekeeping.isDue(nowMilliseconds: self.rows.double.nowMilliseconds) { try self.step() }
    }

    private func step(isAlone: Bool = true, onFullDisk: Bool = false) throws {
        try self.housekeeping.step(isAlone: isAlone, onFullDisk: onFullDisk, in: self.rows)
    }

    private func milliseconds(onFullDisk: Bool = false) -> Int64? {
        self.housekeeping.milliseconds(
            untilStepFrom: self.rows.double.nowMilliseconds,
            onFullDisk: onFullDisk,
            knowing: self.rows
        )
    }

    @Test func `it is wanted until every kind of work says that nothing is left`() throws {
        #expect(self.milliseconds() == 0, "nobody knows yet how old things are")
        try self.passTime()
        #expect(self.milliseconds() == nil)
        for work in HousekeepingKind.allCases {
            self.rows.work = [work]
            #expect(self.milliseconds() == 0)
            try self.step()
            #expect(self.milliseconds() == nil && self.rows.work.isEmpty)
        }
        self.rows.double.nowMilliseconds += 3_600_000
        #expect(self.milliseconds() == 0)
    }

    @Test func `on a full disk it does what makes room`() throws {
        try self.passTime()
        self.rows.work = [.views, .indexes]
        #expect(self.milliseconds() == 0 && self.milliseconds(onFullDisk: true) == nil)
        self.rows.work = [.views, .indexes, .sweep]
        try self.rows.sweep(Self.zone, bytes: 1)
        #expect(self.milliseconds(onFullDisk: true) == 0)
        try self.step(onFullDisk: true)
        try self.step(onFullDisk: true)
        #expect(self.rows.work == [.views, .indexes])
        #expect(try self.rows.zonesSwept == 0)
    }

    @Test func `a step does a piece of each kind, and says what happened`() throws {
        try self.passTime()
        self.rows.work = [.sweep, .indexes]
        try self.rows.sweep(Self.zone, bytes: 1)
        try self.rows.double.tables.put(IndexBuildRow(index: 77, nextRecord: 0))
        try self.rows.double.tables.put(
            IndexRemovalRow(index: 78, database: DatabaseID(rawValue: 0), zoneName: "")
        )
        self.rows.staleChanges = StaleChanges(waiting: 4_096)
        try self.step()
        #expect(self.rows.work == [.sweep, .indexes] && self.rows.staleReads == [400])
        #expect(self.housekeeping.takeEvents() == [.indexesIncomplete(indexes: 1)])
        try self.step()
        #expect(self.rows.work.isEmpty)
        #expect(self.housekeeping.takeEvents() == [.indexesBuilt(indexes: 1, records: 0)])
    }

    @Test func `shared databases wait for more news, and nothing else does`() throws {
        try self.passTime()
        self.rows.work = [.views]
        try self.step()
        self.rows.work = [.views]
        self.rows.double.nowMilliseconds += 5
        #expect(self.milliseconds() == 15)
        for work in [HousekeepingKind.sweep, .indexes] {
            self.rows.work = [.views, work]
            #expect(self.milliseconds() == 0)
        }
        self.rows.work = [.views]
        self.rows.staleChanges = StaleChanges(waiting: 4_096)
        #expect(self.milliseconds() == 0)
    }

    @Test func `outcomes are looked for as they are stored`() throws {
        self.rows.double.nowMilliseconds = 20_000
        try self.passTime()
        try self.rows.setOutcomes([1: 5])
        for _ in 0..<2 {
            self.rows.double.knowledge.outcomesStored = 250
            try self.step(isAlone: false)
        }
        #expect(try self.rows.outcomes() == [:])
    }

    @Test func `stale changes wait for one another, longer while requests come`() throws {
        func reads(_ changes: StaleChanges, isAlone: Bool) throws -> [Int] {
            self.rows.staleChanges = changes
            let before = self.rows.staleReads.count
            try StaleChangePace.step(isAlone: isAlone, in: self.rows)
            return Array(self.rows.staleReads[before...])
        }
        #expect(!StaleChangePace.isWorthwhile(StaleChanges(waiting: 4_095)))
        #expect(try reads(StaleChanges(waiting: 4_095), isAlone: true) == [])
        #expect(StaleChangePace.isWorthwhile(StaleChanges(waiting: 4_096)))
        #expect(try reads(StaleChanges(waiting: 4_096), isAlone: true) == [400])
        #expect(try reads(StaleChanges(waiting: 32_767), isAlone: false) == [])
        #expect(try reads(StaleChanges(waiting: 32_768), isAlone: false) == [400])
    }

    @Test func `stale changes that nobody counted are looked for while nobody waits`() throws {
        self.rows.staleChanges = StaleChanges(mayBeMore: true)
        #expect(StaleChangePace.isWorthwhile(self.rows.staleChanges))
        try StaleChangePace.step(isAlone: false, in: self.rows)
        #expect(self.rows.staleReads == [])
        try StaleChangePace.step(isAlone: true, in: self.rows)
        #expect(self.rows.staleReads == [400])
    }

    @Test func `a round of stale changes that has begun goes on`() throws {
        self.rows.staleChanges = StaleChanges(isInRound: true)
        #expect(StaleChangePace.isWorthwhile(self.rows.staleChanges))
        try StaleChangePace.step(isAlone: false, in: self.rows)
        #expect(self.rows.staleReads == [400])
    }
}
