import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// Reports to a node of commits of others.
@Suite(.timeLimit(.minutes(10)))
struct NodeReportTests {
    /// The reports of a node about one database, in order.
    private struct Told {
        /// The node; it closes its store when nobody has it any more.
        private let it: EngineUnderTest
        private let reports: Reports
        private let database: DatabaseID
        /// The last position that was told.
        var position: Int64 = 0

        init(_ it: EngineUnderTest, _ database: DatabaseID) {
            self.it = it
            self.reports = it.reports()
            self.database = database
        }

        /// Waits until it is told of a position, and returns what came since it was last asked.
        mutating func take(upTo position: Int64) async throws -> [CommittedChanges] {
            var taken: [CommittedChanges] = []
            let start = ContinuousClock.now
            while self.position < position {
                for report in self.reports.take() {
                    taken.append(report)
                    let changes = report.changes.filter { $0.database == self.database }
                    for change in changes {
                        #expect(change.position > self.position)
                        self.position = change.position
                    }
                    for alone in [report.incomplete, report.overwritten] {
                        guard let position = alone[self.database] else { continue }
                        #expect(position >= self.position)
                        self.position = position
                    }
                }
                if self.position < position, ContinuousClock.now > start + .seconds(20) {
                    Issue.record("told up to \(self.position) of \(position), last \(taken.suffix(3))")
                    throw StorageFailure.unexpected(code: 0)
                }
                try await Task.sleep(for: .milliseconds(1))
            }
            return taken
        }
    }

    private static func position(_ outcomes: [WriteOutcome]) throws -> Int64 {
        try #require(outcomes.last?.tag.flatMap { Int64($0, radix: 36) })
    }

    /// The last position of a database.
    private static func position(_ it: EngineUnderTest, _ database: DatabaseID) throws -> Int64 {
        try it.store.engine.administer { try $0.position(of: database) }
    }

    /// Two nodes; somebody listens at the second.
    private static func scene() async throws -> (one: EngineUnderTest, two: EngineUnderTest, told: Told) {
        let one = try await EngineUnderTest.withNotes(.postgreSQL)
        let two = try one.beside()
        var told = Told(two, two.privately.database)
        let start = try await two.startWatching()
        told.position = try #require(start.positions[two.privately.database])
        return (one, two, told)
    }

    // MARK: Records

    @Test
    func `a record that another node creates, updates and deletes is reported as it is`() async throws {
        let (one, two, first) = try await Self.scene()
        var told = first
        let made = try await one.modify([save("a", ["n": .int64(1)])])
        let created = try #require(try await told.take(upTo: Self.position(made)).first)
        #expect(created.incomplete.isEmpty && created.overwritten.isEmpty && created.changes.count == 1)
        #expect(created.committedMilliseconds == one.clock.milliseconds)
        guard case .record(let creation)? = created.changes.first?.kind else {
            Issue.record("\(created)")
            return
        }
        #expect(creation.zone == "notes" && creation.name == "a" && creation.before == nil)
        let stored = try await two.record(id("a"))
        #expect(creation.after?.record(id: id("a")) == stored)
        #expect(creation.definitions["n"]?.type == .int64 && creation.isBeforeKnown)
        #expect(created.changes[0].origin == nil)
        #expect(created.changes[0].environment == two.privately.environment)

        one.clock.advance(milliseconds: 5_000)
        let changed = try await one.modify([save("a", ["m": .int64(2)])], policy: .changedKeys)
        let updated = try #require(try await told.take(upTo: Self.position(changed)).first)
        #expect(updated.changes.map(\.words) == ["a"] && updated.overwritten.isEmpty)
        #expect(updated.committedMilliseconds == one.clock.milliseconds)
        guard case .record(let update)? = updated.changes.first?.kind else { return }
        #expect(update.after?.body.fields.count == 2 && !update.isBeforeKnown)
        #expect(update.definitions["m"] != nil)

        _ = try await one.modify([], deletes: [id("a")])
        let last = try Self.position(one, one.privately.database)
        let gone = try #require(try await told.take(upTo: last).first)
        #expect(gone.changes.map(\.words) == ["-a"] && gone.overwritten.isEmpty)
        guard case .record(let deletion)? = gone.changes.first?.kind else { return }
        #expect(deletion.recordType == "Note" && !deletion.isBeforeKnown)
        #expect(deletion.before?.system.createdBy == EngineUnderTest.alice)
    }

    @Test
    func `each transaction of another node is a report of its own, with its time`() async throws {
        let (one, _, first) = try await Self.scene()
        var told = first
        var times: [Int64] = []
        var last: Int64 = 0
        for number in 0..<20 {
            one.clock.advance(milliseconds: 10)
            times.append(one.clock.milliseconds)
            last = try Self.position(try await one.modify([save("a\(number)"), save("b\(number)")]))
        }
        let reports = try await told.take(upTo: last)
        #expect(reports.map(\.committedMilliseconds) == times)
        #expect(reports.map { $0.changes.map(\.words) } == (0..<20).map { ["+a\($0)", "+b\($0)"] })
    }

    @Test
    func `a record that changed twice has its last change, and it is said that there were others`()
        async throws
    {
        let (one, two, first) = try await Self.scene()
        var told = first
        _ = try await told.take(upTo: Self.position(one.modify([save("old")])))
        let outcomes = await one.together(
            [[save("a", ["n": .int64(1)])], [save("a", ["n": .int64(2)])], [save("b")]],
            policy: .changedKeys
        )
        let last = try Self.position(try outcomes[2].get())
        let reports = try await told.take(upTo: last).filter { !$0.changes.map(\.words).contains("old") }
        let report = try #require(reports.last)
        #expect(report.overwritten == [two.privately.database: last] && report.incomplete.isEmpty)
        #expect(report.changes.map(\.words).suffix(2) == ["a", "+b"])
    }

    // MARK: Bounds

    @Test
    func `a whole request is reported with details, and more at once by its position`() async throws {
        let (one, two, first) = try await Self.scene()
        var told = first
        let most = Bounds.defaults.requestItemsMax
        let whole = try await one.modify((0..<most).map { save("a\($0)") })
        let report = try #require(try await told.take(upTo: Self.position(whole)).first)
        #expect(report.changes.map(\.words) == (0..<most).map { "+a\($0)" })
        #expect(report.incomplete.isEmpty && report.overwritten.isEmpty)
        let outcomes = await one.together([0, 1].map { part in (0..<most).map { save("b\(part)-\($0)") } })
        let last = try Self.position(try outcomes[1].get())
        let reports = try await told.take(upTo: last)
        #expect(reports.last?.incomplete == [two.privately.database: last])
        #expect(reports.last?.changes.isEmpty == true)
        // From there on details are known again.
        let after = try Self.position(try await one.modify([save("after")]))
        #expect(try await told.take(upTo: after).map { $0.changes.map(\.words) } == [["+after"]])
    }

    @Test
    func `bodies beyond a bound are not read`() async throws {
        let (one, two, first) = try await Self.scene()
        var told = first
        let body = FieldValue.bytes([UInt8](repeating: 1, count: 1_000_000))
        let outcomes = try await one.modify((0..<4).map { save("a\($0)", ["b": body]) })
        let last = try Self.position(outcomes)
        let reports = try await told.take(upTo: last)
        #expect(reports.map(\.incomplete) == [[two.privately.database: last]])
        #expect(reports.flatMap(\.changes).isEmpty)
    }

    // MARK: Zones and subscriptions

    @Test
    func `zones of another node come and go, and subscriptions are said to have changed`() async throws {
        let (one, two, first) = try await Self.scene()
        var told = first
        let database = two.privately.database
        func last() throws -> Int64 { try Self.position(one, database) }
        _ = try await one.modifyZones(["other"])
        #expect(try await told.take(upTo: last()).flatMap(\.changes).map(\.words) == ["+zone other"])
        _ = try await one.modifySubscriptions([query("q", in: ZoneID(zoneName: "other"))])
        let saved = try await told.take(upTo: last())
        #expect(saved.flatMap(\.changes).isEmpty)
        #expect(try saved.last?.overwritten == [database: last()])
        _ = try await one.modifyZones([], deletes: ["other"])
        let deleted = try await told.take(upTo: last())
        #expect(deleted.flatMap(\.changes).map(\.words) == ["-zone other"])
        #expect(try deleted.last?.overwritten[database] == last(), "its subscriptions have gone")
    }

    // MARK: Both nodes write

    @Test
    func `a thousand records that two nodes save at once are each reported once, in order`() async throws {
        let (one, two, first) = try await Self.scene()
        var told = first
        let savesCount = 250
        let positions = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for writer in 0..<4 {
                // Three writers elsewhere, and one at the listener's own node.
                let node = writer == 3 ? two : one
                group.addTask {
                    var positions: [Int64] = []
                    for number in 0..<savesCount {
                        let saved = try await node.modify([save("r\(writer)-\(number)")])
                        positions.append(try Self.position(saved))
                    }
                    return positions
                }
            }
            return try await group.reduce(into: [Int64]()) { $0 += $1 }
        }
        let reports = try await told.take(upTo: try #require(positions.max()))
        var check = FeedCheck()
        check.take(reports.flatMap(\.changes).map(\.position))
        #expect(check.faults(acknowledged: positions) == [])
        #expect(reports.allSatisfy { $0.incomplete.isEmpty && $0.overwritten.isEmpty })
        // Commits of the listener's own node are known with details.
        for change in reports.flatMap(\.changes) {
            guard case .record(let record) = change.kind else { continue }
            #expect(record.before == nil && record.after?.position == change.position)
        }
    }

    @Test
    func `what is reported of random changes through three nodes makes what is stored`() async throws {
        let (one, two, first) = try await Self.scene()
        var told = first
        let nodes = [one, two, try one.beside()]
        let database = two.privately.database
        var generator = SeededGenerator.fromEnvironment()
        let seed: Comment = "SEED=\(generator.seed)"
        var records: [RecordID: Int64] = [:]
        let names = (0..<6).map { "r\($0)" }
        let zones = ["elm", "oak"].map { ZoneID(zoneName: $0) }
        for _ in 0..<40 {
            // Nobody waits for the listener's node, so it finds several changes of a record at once.
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let node = nodes.randomElement(using: &generator)!
                let zone = zones.randomElement(using: &generator)!
                switch Int.random(in: 0..<8, using: &generator) {
                case 0: _ = try await node.modifyZones([], deletes: [zone.zoneName])
                case 1, 2: _ = try await node.modifyZones(zones.map(\.zoneName))
                case 3:
                    let name = names.randomElement(using: &generator)!
                    _ = try await node.modify([], deletes: [id(name, in: zone)])
                default:
                    let saves = names.shuffled(using: &generator).prefix(2).map { save($0, in: zone) }
                    _ = try await node.modify(saves, policy: .changedKeys)
                }
            }
            let last = try Self.position(one, database)
            for report in try await told.take(upTo: last) {
                #expect(report.incomplete.isEmpty, seed)
                for change in report.changes {
                    switch change.kind {
                    case .record(let record):
                        let id = RecordID(zone: ZoneID(zoneName: record.zone), recordName: record.name)
                        records[id] = record.after?.position
                    case .zoneDeleted(let name): records = records.filter { $0.key.zone.zoneName != name }
                    default: break
                    }
                }
            }
            var stored: [RecordID: Int64] = [:]
            for zone in zones {
                for name in names {
                    guard let record = try await one.record(id(name, in: zone)) else { continue }
                    stored[record.id] = Int64(record.changeTag, radix: 36)
                }
            }
            #expect(records == stored, seed)
            if records != stored { return }
        }
    }

    // MARK: Shared zones

    /// Bob reads and writes a list of Alice's, of which the second node is to hear.
    private static func sharedScene() async throws -> (one: EngineUnderTest, two: EngineUnderTest) {
        let one = try await EngineUnderTest.withNotes(.postgreSQL)
        let share = try await one.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, .readWrite)]
        }
        try await one.join(share, by: one.bobShared)
        _ = try await one.modifySubscriptions([databaseSubscription("d")], by: one.bobShared)
        _ = try await one.zones(by: one.bobShared)
        // The first node keeps house.
        let two = try one.beside()
        one.clock.advance(milliseconds: 1_000)
        return (one, two)
    }

    @Test(arguments: [false, true])
    func `a change of a shared zone is reported to who reads it at another node`(
        isKeeper: Bool
    ) async throws {
        let (one, two) = try await Self.sharedScene()
        // A node that does not keep house brings the shared database up to date as well.
        let (saving, listening) = isKeeper ? (one, two) : (two, one)
        let database = try #require(one.bobSignIn.sharedDatabase)
        var told = Told(listening, database)
        _ = try await listening.startWatching(listening.listener(1, signIn: listening.bobSignIn))
        let before = try Self.position(saving, database)
        _ = try await saving.modify([save("list", ["n": .int64(1)])], policy: .changedKeys)
        let reports = try await told.take(upTo: before + 1)
        let changes = reports.flatMap(\.changes).filter { $0.database == database }
        #expect(changes.count == 1 && changes.allSatisfy { $0.words.hasPrefix("zone ") })
        withExtendedLifetime((one, two)) {}
    }

    @Test
    func `a connection that changes a shared zone is not told of it, whichever node keeps house`()
        async throws
    {
        let (one, two) = try await Self.sharedScene()
        let pushes = PushedNotifications(of: two)
        try await pushes.listen(as: 0, two.bobSignIn)
        let change = ModifyRecords(
            scope: .shared,
            saves: [sharedSave("list", ["n": .int64(1)])],
            policy: .changedKeys
        )
        let own = pushes.connections(of: 0)
        let outcomes = try await two.write(
            .modifyRecords(change),
            by: two.bobShared,
            origin: pushes.origin(own[0])
        ).get()
        #expect(outcomes.areSaved)
        var heard: Set<UInt64> = []
        while heard.isEmpty {
            heard.formUnion(try pushes.take().keys)
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(heard == [own[1]])
        // A node that has ended keeps no house.
        withExtendedLifetime(one) {}
    }
}
