import PostgreSQLCluster
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine

/// Several servers of one store.
@Suite(.timeLimit(.minutes(10)))
struct NodesTests {
    private static let writersPerNode = 3
    private static let savesPerWriter = 60

    /// Whether writers are done.
    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)

        var isSet: Bool { self.value.load(ordering: .acquiring) }

        func set() { self.value.store(true, ordering: .releasing) }
    }

    private static func nodes(_ count: Int) async throws -> [EngineUnderTest] {
        let first = try await EngineUnderTest.withNotes(.postgreSQL)
        let others = try (1..<count).map { _ in try first.beside() }
        return [first] + others
    }

    private static func target(_ it: EngineUnderTest) throws -> ConnectionTarget {
        try PostgreSQLCluster.running().target(standingFor: it.folder.path)
    }

    private static func execute(_ text: String, _ it: EngineUnderTest) throws -> ResultRows {
        try PostgreSQLConnection(self.target(it)).query(SQL(text, reach: .store))
    }

    // MARK: Feeds

    /// Saves new records through a node, one request after the other, and returns their positions.
    private static func saveAll(of writer: Int, through it: EngineUnderTest) async throws -> [Int64] {
        var positions: [Int64] = []
        for number in 0..<self.savesPerWriter {
            let saves = (0...number % 3).map { EngineConformance.save("r\(writer)-\(number)-\($0)") }
            for outcome in try await it.modify(saves) {
                guard let tag = outcome.tag, let position = Int64(tag, radix: 36) else {
                    throw StorageFailure.unexpected(code: 0)
                }
                positions.append(position)
            }
        }
        return positions
    }

    /// Reads the order of changes of a zone until the writers are done, and once more to its end.
    private static func follow(
        _ it: EngineUnderTest,
        until isDone: @Sendable () -> Bool
    ) async throws -> FeedCheck {
        let database = it.privately.database
        var check = FeedCheck()
        while true {
            let isLast = isDone()
            while true {
                let last = check.last
                let page = try await it.snapshot { (snapshot) throws(StorageFailure) -> [Int64] in
                    guard let zone = try snapshot.zone(named: "notes", in: database) else { return [] }
                    return try snapshot.changes(after: last, in: zone, limit: 50).elements.map(\.position)
                }
                guard !page.isEmpty else { break }
                check.take(page)
            }
            if isLast { return check }
        }
    }

    @Test
    func `a feed has every save through three nodes once, in the order of its positions`() async throws {
        let nodes = try await Self.nodes(3)
        let isDone = Flag()
        try await withThrowingTaskGroup(of: FeedCheck.self) { readers in
            for node in nodes {
                readers.addTask {
                    try await Self.follow(node) { isDone.isSet }
                }
            }
            let acknowledged = try await withThrowingTaskGroup(of: [Int64].self) { writers in
                for writer in 0..<nodes.count * Self.writersPerNode {
                    writers.addTask {
                        try await Self.saveAll(of: writer, through: nodes[writer % nodes.count])
                    }
                }
                return try await writers.reduce(into: [Int64]()) { $0 += $1 }
            }
            isDone.set()
            for try await check in readers { #expect(check.faults(acknowledged: acknowledged) == []) }
        }
        #expect(try await nodes[0].wrongCounters() == [])
        #expect(try await nodes[0].isOrderWhole())
        // Records have other numbers, whichever node made them.
        let numbers = try Self.execute(
            "SELECT count(*), count(DISTINCT number) FROM tidemark.record",
            nodes[0]
        )
        #expect(numbers.integer(0, 0) == numbers.integer(0, 1))
    }

    @Test
    func `the check of a feed finds positions that are taken before the lock, as those of a sequence`()
        async throws
    {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let target = try Self.target(it)
        let isDone = Flag()
        var check = FeedCheck()
        let reader = try PostgreSQLConnection(target)
        let page = SQL(
            "SELECT position FROM tidemark.change WHERE database = $1 AND zone = 1 AND position > $2 ORDER BY position"
        )
        let acknowledged = try await withThrowingTaskGroup(of: [Int64].self) { writers in
            for writer in 0..<4 {
                writers.addTask {
                    defer { isDone.set() }
                    return try await Self.writePlanted(writer, PostgreSQLConnection(target))
                }
            }
            while !isDone.isSet {
                let rows = try reader.query(page, [.integer(-1), .integer(check.last)])
                check.take((0..<rows.count).map { rows.integer($0, 0) })
                await Task.yield()
            }
            return try await writers.reduce(into: [Int64]()) { $0 += $1 }
        }
        let rows = try reader.query(page, [.integer(-1), .integer(check.last)])
        check.take((0..<rows.count).map { rows.integer($0, 0) })
        #expect(check.faults(acknowledged: acknowledged).contains { $0.contains("never came") })
    }

    /// Commits a number and then, in another transaction, the row that has it.
    private static func writePlanted(
        _ writer: Int,
        _ connection: PostgreSQLConnection
    ) async throws -> [Int64] {
        let next = SQL(
            """
            INSERT INTO tidemark.counter AS c (name, value) VALUES ('planted', 1)
            ON CONFLICT (name) DO UPDATE SET value = c.value + 1 RETURNING value
            """,
            reach: .directory
        )
        let insert = SQL(
            "INSERT INTO tidemark.change (database, zone, position, record) VALUES ($1, 1, $2, $2)"
        )
        var positions: [Int64] = []
        for number in 0..<150 {
            let position = try connection.query(next).integer(0, 0)
            try await Task.sleep(for: .microseconds((writer * 7 + number) % 5 * 300))
            _ = try connection.query(insert, [.integer(-1), .integer(position)])
            positions.append(position)
        }
        return positions
    }

    // MARK: What nodes know

    @Test
    func `zones, types, users and quotas that one node changes are those of the others`() async throws {
        let nodes = try await Self.nodes(2)
        for round in 0..<10 {
            let (one, two) = (nodes[round % 2], nodes[(round + 1) % 2])
            let zone = ZoneID(zoneName: "z\(round)")
            #expect(try await one.modifyZones([zone.zoneName]).count == 1)
            #expect(try await two.modify([save("a", in: zone, ["f\(round)": .int64(1)])]).areSaved)
            // The field has its type at once, whoever defined it.
            #expect(try await one.modify([save("b", in: zone, ["f\(round)": .string("x")])])[0].error != nil)
            #expect(try await one.modifyZones([], deletes: [zone.zoneName]) == [.deleted])
            #expect(try await two.modify([save("c", in: zone)]) == [.failed(.zoneMissing)])
        }
        try await nodes[0].swept()
        #expect(try await nodes[1].wrongCounters() == [])
    }

    @Test
    func `nodes that change zones and records at random leave counters that are right`() async throws {
        let nodes = try await Self.nodes(3)
        let seed = SeededGenerator.fromEnvironment().seed
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, node) in nodes.enumerated() {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(number))
                    for step in 0..<80 {
                        try await Self.change(node, step, &generator)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await nodes[0].swept()
        #expect(try await nodes[0].wrongCounters() == [], "SEED=\(seed)")
        #expect(try await nodes[0].isOrderWhole(), "SEED=\(seed)")
    }

    private static func change(
        _ node: EngineUnderTest,
        _ step: Int,
        _ generator: inout SeededGenerator
    ) async throws {
        let zone = ZoneID(zoneName: ["elm", "oak", "yew"].randomElement(using: &generator) ?? "")
        let name = "r\(Int.random(in: 0..<8, using: &generator))"
        let isBob = Bool.random(using: &generator)
        let requester = isBob ? node.bobPrivately : node.privately
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: _ = try await node.modifyZones([zone.zoneName], by: requester)
        case 1: _ = try await node.modifyZones([], deletes: [zone.zoneName], by: requester)
        case 2, 3:
            _ = try await node.modify([], deletes: [id(name, in: zone)], by: requester)
        default:
            let fields = ["n\(step % 3)": FieldValue.int64(Int64(step))]
            _ = try await node.modify([save(name, in: zone, fields)], policy: .allKeys, by: requester)
        }
    }

    // MARK: Rows of nodes

    @Test
    func `a node whose row was removed registers again, and saves`() async throws {
        let nodes = try await Self.nodes(2)
        #expect(try await nodes[0].modify([save("a")]).areSaved)
        _ = try Self.execute("DELETE FROM tidemark.node", nodes[0])
        #expect(try await nodes[0].modify([save("b")]).areSaved)
        #expect(try await nodes[1].modify([save("c")]).areSaved)
        let count = try Self.execute("SELECT count(*) FROM tidemark.node", nodes[0])
        #expect(count.integer(0, 0) == 2)
    }

    @Test
    func `a node commits nothing once another run has its row`() async throws {
        let events = Mutex<[EngineEvent]>([])
        let it = try EngineUnderTest(.postgreSQL, report: { event in events.withLock { $0.append(event) } })
        _ = try await it.modifyZones(["notes"])
        _ = try Self.execute("UPDATE tidemark.node SET boot = boot + 1", it)
        let late = ModifyRecords(scope: .private, saves: [save("late")])
        guard case .failure(.storageUnavailable) = await it.write(.modifyRecords(late)) else {
            Issue.record("committed")
            return
        }
        #expect(try await it.record(id("late")) == nil)
        #expect(events.withLock { $0.contains(.logLost(systemError: 0)) })
    }

    @Test
    func `a node that ends takes its row away, and gives back what it kept`() async throws {
        let nodes = try await Self.nodes(2)
        #expect(try await nodes[0].modify([save("a")]).areSaved)
        await nodes[0].store.shutdown()
        let left = try Self.execute("SELECT count(*) FROM tidemark.node", nodes[1])
        #expect(left.integer(0, 0) == 1)
        // Another node keeps house now: what a deleted zone leaves goes.
        #expect(try await nodes[1].modifyZones([], deletes: ["notes"]) == [.deleted])
        try await nodes[1].swept()
    }

    @Test
    func `a lease that ended is taken, and its former holder does not keep house`() async throws {
        var row = StoreRow()
        row.nowMilliseconds = 1_000
        var first = HousekeepingLease(node: "first", term: nil)
        var second = HousekeepingLease(node: "second", term: nil)
        #expect(first.keep(&row) && first.isHeld(in: row))
        #expect(!second.keep(&row) && !second.isHeld(in: row))
        // Nothing is written while there is time.
        row.nowMilliseconds += HousekeepingLease.renewalMilliseconds - 1
        #expect(!first.keep(&row) && first.isHeld(in: row))
        row.nowMilliseconds += HousekeepingLease.milliseconds
        #expect(second.keep(&row) && second.isHeld(in: row))
        #expect(!first.isHeld(in: row) && !first.keep(&row) && first.term == nil)
        // Another run of the same server need not wait.
        var again = HousekeepingLease(node: "second", term: nil)
        #expect(again.keep(&row) && !second.isHeld(in: row))
    }
}
