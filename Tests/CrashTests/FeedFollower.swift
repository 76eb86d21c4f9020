import RecordClient
import RecordModel
import TestSupport
import WireProtocol

/// Reads feeds as a syncing device does: zones that the database's feed names, page by page, and
/// goes back to earlier tokens at random.
struct FeedFollower: Sendable {
    /// Places to go back to, of a zone and of the database.
    private static let earlierMax = 16

    private let client: SwitchedClient
    private let ledger: FeedLedger
    private var generator: SeededGenerator
    private var database = DatabaseFollower()
    private var zones: [ZoneID: ZoneFollower] = [:]
    private var earlierDatabases: [DatabaseFollower] = []
    private var earlierZones: [ZoneID: [ZoneFollower]] = [:]
    /// Zones that may have something new.
    private var due: Set<ZoneID> = []
    /// The highest position of each record that came, ever: none goes backwards, wherever the
    /// reader goes back to.
    private var highest: [RecordID: Int64] = [:]
    private(set) var pages = 0
    private(set) var restarts = 0
    private(set) var expirations = 0

    init(client: SwitchedClient, ledger: FeedLedger, seed: UInt64) {
        self.client = client
        self.ledger = ledger
        self.generator = SeededGenerator(seed: seed)
    }

    mutating func run(until isOver: @Sendable () -> Bool) async throws {
        while !isOver() {
            do {
                if let zone = self.nextZone(), !self.isOneIn(5) {
                    try await self.follow(zone)
                } else {
                    try await self.followDatabase()
                }
            } catch ClientError.closed {
                // Cut off in the middle of a page: asks again with the token that it had.
            } catch ClientError.refused(let failure) where failure.code == .serviceUnavailable {
                // The same, once the store is back.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private mutating func nextZone() -> ZoneID? {
        self.due.sorted { $0.zoneName < $1.zoneName }.randomElement(using: &self.generator)
    }

    private mutating func anyEarlier() -> Int {
        Int.random(in: 0..<Self.earlierMax, using: &self.generator)
    }

    private mutating func isOneIn(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &self.generator) == 0
    }

    // MARK: The database

    private mutating func followDatabase() async throws {
        if self.isOneIn(20), let earlier = self.earlierDatabases.randomElement(using: &self.generator) {
            self.database = self.isOneIn(3) ? DatabaseFollower() : earlier
            self.restarts += 1
        }
        let limit = Int.random(in: 1...4, using: &self.generator)
        let (tick, _) = self.ledger.now()
        let (items, end) = try await self.client.current.answer(
            to: .fetchDatabaseChanges(self.database.request(limit: limit))
        )
        self.pages += 1
        let (changed, deleted) = try self.database.take(items, end, limit: limit, askedAt: tick, self.ledger)
        self.due.formUnion(changed)
        for zone in deleted { self.forget(zone) }
        guard self.isOneIn(10) else { return }
        if self.earlierDatabases.count == Self.earlierMax {
            self.earlierDatabases.remove(at: self.anyEarlier())
        }
        self.earlierDatabases.append(self.database)
    }

    private mutating func forget(_ zone: ZoneID) {
        self.zones[zone] = nil
        self.earlierZones[zone] = nil
        self.due.remove(zone)
    }

    // MARK: A zone

    private mutating func follow(_ zone: ZoneID) async throws {
        if self.isOneIn(40) { try await self.beginWithNow(zone) }
        if self.isOneIn(12) { self.restart(zone) }
        let follower = self.zones[zone] ?? self.fresh(zone)
        let limit = self.isOneIn(12) ? 0 : Int.random(in: 1...12, using: &self.generator)
        guard let next = try await self.page(of: follower, limit: limit) else { return }
        self.zones[zone] = next
        // The feed of the database reports every change from now on.
        if next.isThrough { self.due.remove(zone) }
        guard self.isOneIn(8) else { return }
        var earlier = self.earlierZones[zone] ?? []
        if earlier.count == Self.earlierMax { earlier.remove(at: self.anyEarlier()) }
        self.earlierZones[zone] = earlier + [next]
    }

    private mutating func fresh(_ zone: ZoneID) -> ZoneFollower {
        ZoneFollower(zone, order: Bool.random(using: &self.generator) ? .creation : .newestFirst)
    }

    private mutating func restart(_ zone: ZoneID) {
        guard let earlier = self.earlierZones[zone]?.randomElement(using: &self.generator) else { return }
        self.restarts += 1
        if self.isOneIn(3) {
            self.zones[zone] = self.fresh(zone)
        } else if self.isOneIn(2), var follower = self.zones[zone] {
            follower.goBack(to: earlier)
            self.zones[zone] = follower
        } else {
            self.zones[zone] = earlier
        }
    }

    private mutating func beginWithNow(_ zone: ZoneID) async throws {
        let (tick, position) = self.ledger.now()
        do {
            let end = try await self.client.current.end(
                of: .fetchToken(FetchToken(scope: .private, zone: zone)),
                timeout: .seconds(60)
            )
            self.zones[zone] = ZoneFollower(
                zone,
                token: end.token,
                askedAt: tick,
                answeredAt: self.ledger.now().tick,
                position: position
            )
        } catch ClientError.refused(let failure) where failure.code == .zoneNotFound {
            try self.checkMissing(zone, askedAt: tick)
        }
    }

    /// Asks for a page; returns `nil` if the token or the zone is gone.
    private mutating func page(of follower: ZoneFollower, limit: Int) async throws -> ZoneFollower? {
        var follower = follower
        let zone = follower.zone
        let (tick, position) = self.ledger.now()
        do {
            let (items, end) = try await self.client.current.answer(
                to: .fetchChanges(follower.request(limit: limit))
            )
            self.pages += 1
            try self.checkHighest(items)
            let question = ZoneFollower.Question(limit: limit, tick: tick, position: position)
            try follower.take(items, end, question, self.ledger)
            return follower
        } catch ClientError.refused(let failure) where failure.code == .changeTokenExpired {
            guard !follower.token.isEmpty, self.ledger.mayBeDeleted(zone, after: follower.askedAt) else {
                throw FeedFlaw("\(zone.zoneName): \(failure.message)")
            }
            self.expirations += 1
            // Earlier tokens may be younger than the deletion: each is judged when its turn comes.
            self.zones[zone] = nil
            return nil
        } catch ClientError.refused(let failure) where failure.code == .zoneNotFound {
            try self.checkMissing(zone, askedAt: tick)
            self.forget(zone)
            return nil
        }
    }

    private func checkMissing(_ zone: ZoneID, askedAt tick: Int) throws {
        guard self.ledger.mayBeMissing(zone, at: tick) else {
            throw FeedFlaw("\(zone.zoneName) is not found")
        }
    }

    private mutating func checkHighest(_ items: [Item]) throws {
        for item in items {
            guard let record = item.outcome.record else { continue }
            let position = try Content(record).position
            guard position >= self.highest[record.id] ?? -1 else {
                throw FeedFlaw("\(record.id.recordName) went back to \(position)")
            }
            self.highest[record.id] = position
        }
    }

    // MARK: The end

    /// Nobody writes any more: reads what is left, and compares all that it has with what there is.
    mutating func finish(_ truth: FeedTruth) async throws {
        repeat {
            try await self.followDatabase()
            while let zone = self.nextZone() { try await self.follow(zone) }
        } while !self.database.isThrough
        guard self.database.zones == Set(truth.zones.keys) else {
            throw FeedFlaw("zones \(self.database.zones.map(\.zoneName)) in the feed of the database")
        }
        for (zone, records) in truth.zones {
            guard let follower = self.zones[zone], follower.isThrough else {
                throw FeedFlaw("\(zone.zoneName): nothing said that it has changed")
            }
            try self.compare(follower, records)
            for earlier in (self.earlierZones[zone] ?? []).shuffled(using: &self.generator).prefix(3) {
                try await self.finish(earlier, records)
            }
            let order =
                Bool.random(using: &self.generator) ? FetchChanges.SnapshotOrder.creation : .newestFirst
            try await self.finish(ZoneFollower(zone, order: order), records)
        }
        try await self.finishDatabase(truth)
    }

    private mutating func finish(_ start: ZoneFollower, _ records: [String: Content]) async throws {
        var follower = start
        repeat {
            let limit = Int.random(in: 1...24, using: &self.generator)
            guard let next = try await self.page(of: follower, limit: limit) else { return }
            follower = next
        } while !follower.isThrough
        try self.compare(follower, records)
        guard start.token.isEmpty else { return }
        let bytes = records.values.map { $0.body.bytes.count }.reduce(0, +)
        let totals = SnapshotTotals(records: UInt64(records.count), bytes: UInt64(bytes))
        guard follower.totals == totals else {
            throw FeedFlaw(
                "\(start.zone.zoneName): totals \(String(describing: follower.totals)), not \(totals)"
            )
        }
        guard let last = try await self.page(of: follower, limit: 1), last.isThrough,
            last.records == follower.records
        else { throw FeedFlaw("\(start.zone.zoneName): something behind the end") }
    }

    private func compare(_ follower: ZoneFollower, _ records: [String: Content]) throws {
        let known = follower.records
        for name in Set(known.keys).union(records.keys).sorted() where known[name] != records[name] {
            // From the token for now on: older records never came.
            if follower.since > 0, known[name] == nil { continue }
            throw FeedFlaw(
                "\(follower.zone.zoneName): \(name) is \(known[name]?.position ?? -1), "
                    + "committed is \(records[name]?.position ?? -1)"
            )
        }
    }

    private mutating func finishDatabase(_ truth: FeedTruth) async throws {
        for start in self.earlierDatabases.suffix(4) + [DatabaseFollower()] {
            var follower = start
            var named: [ZoneID] = []
            repeat {
                let (tick, _) = self.ledger.now()
                let (items, end) = try await self.client.current.answer(
                    to: .fetchDatabaseChanges(follower.request(limit: 2))
                )
                named += try follower.take(items, end, limit: 2, askedAt: tick, self.ledger).changed
            } while !follower.isThrough
            guard follower.zones == Set(truth.zones.keys), named.count == Set(named).count else {
                throw FeedFlaw("zones \(named.map(\.zoneName)) from an earlier token of the database")
            }
        }
    }
}
