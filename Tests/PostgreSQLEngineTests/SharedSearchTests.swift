import Foundation
import PostgreSQLCluster
import RecordModel
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// Searches that wait for a thread together, and are read in one snapshot.
@Suite(.timeLimit(.minutes(10)))
struct SharedSearchTests {
    // MARK: Searches that wait

    /// Has the only thread for searches busy until a function has asked for some that wait together.
    private static func together(_ it: EngineUnderTest, _ ask: () -> Void) {
        let (held, gate) = (Gate(), Gate())
        let count = QueryRead(query: Query(recordType: "Note"), isCount: true)
        it.store.query(count, for: it.privately, into: KeptRecords()) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        ask()
        gate.open()
    }

    private static func found(
        _ reads: [QueryRead],
        _ it: EngineUnderTest,
        begin: () -> Void = {}
    ) async -> [Result<FoundPage, StoreError>] {
        let results = Mutex<[Int: Result<FoundPage, StoreError>]>([:])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            self.together(it) {
                for (number, read) in reads.enumerated() {
                    let sink = KeptRecords()
                    it.store.query(read, for: it.privately, into: sink) { result in
                        let count = results.withLock { results in
                            #expect(results[number] == nil, "a second reply")
                            results[number] = result.map { page in
                                FoundPage(page: page, records: sink.records.withLock { $0 })
                            }
                            return results.count
                        }
                        if count == reads.count { continuation.resume() }
                    }
                }
                begin()
            }
        }
        return results.withLock { results in reads.indices.map { results[$0]! } }
    }

    /// Searches of all kinds: for one record and for hundreds, by entries and by numbers, refused and empty.
    private static let reads: [QueryRead] = {
        func query(_ predicate: RecordModel.Predicate = .all, _ sort: [SortKey] = []) -> Query {
            Query(recordType: "Note", predicate: predicate, sort: sort)
        }
        let (up, down) = (SortKey(field: "number"), SortKey(field: "number", isAscending: false))
        let even = NumberedNotes.equals("parity", .int64(0))
        let numbers = [77, 3, 390, 77, 1_000].map { number in
            QueryRead(query: query(NumberedNotes.number(.equals, number)), zone: notes)
        }
        return numbers + [
            QueryRead(query: query(even), zone: notes, limit: 20),
            QueryRead(query: query(even), zone: notes, desiredKeys: ["number"]),
            QueryRead(query: query(even, [down]), limit: 10),
            QueryRead(query: query(.all, [up]), zone: notes, limit: 30),
            QueryRead(query: query(.all, [down])),
            QueryRead(query: query(NumberedNotes.number(.lessThan, 300)), isCount: true),
            QueryRead(
                query: query(.and([even, NumberedNotes.equals("title", .string("title 8"))])),
                zone: notes
            ),
            QueryRead(query: query(NumberedNotes.equals("unknown", .int64(1))), zone: notes),
            QueryRead(query: query(), zone: ZoneID(zoneName: "nowhere")),
            QueryRead(query: Query(recordType: "Absent"), zone: notes),
            QueryRead(query: query(), zone: notes, resume: [1, 2, 3]),
        ]
    }()

    private static func words(_ results: [Result<FoundPage, StoreError>]) -> [String] {
        results.map { result in
            switch result {
            case .failure(let error): "\(error)"
            case .success(let found):
                "\(found.records) \(found.page.recordCount) \(found.page.count) \(found.page.resume ?? [])"
            }
        }
    }

    @Test
    func `searches that wait together find what each finds alone`() async throws {
        let it = try await NumberedNotes.engine(400, .postgreSQL) { $0.readThreads = 1 }
        var alone: [Result<FoundPage, StoreError>] = []
        for read in Self.reads {
            do throws(StoreError) { alone.append(.success(try await it.query(read))) } catch {
                alone.append(.failure(error))
            }
        }
        #expect(alone.count { (try? $0.get()) == nil } == 4)
        for _ in 0..<20 {
            let found = await Self.found(Self.reads, it)
            #expect(Self.words(found) == Self.words(alone))
        }
    }

    @Test
    func `what another server has changed meanwhile is found`() async throws {
        let it = try await NumberedNotes.engine(20, .postgreSQL) { $0.readThreads = 1 }
        let other = try it.beside()
        let read = QueryRead(query: Query(recordType: "Note"), zone: notes)
        for round in 0..<5 {
            _ = try await other.modifyZones([], deletes: ["notes"])
            _ = try await other.modifyZones(["notes"])
            #expect(try await other.modify([save("new\(round)", ["later\(round)": .int64(1)])]).areSaved)
            let later = NumberedNotes.equals("later\(round)", .int64(1))
            let narrow = QueryRead(query: Query(recordType: "Note", predicate: later), zone: notes)
            for found in await Self.found([read, narrow, read, narrow, narrow], it) {
                #expect(NumberedNotes.names(try found.get()) == ["new\(round)"])
            }
        }
    }

    @Test(arguments: RoundTripProxy.Point.allCases)
    func `a connection that is cut costs none of them its result`(point: RoundTripProxy.Point) async throws {
        let directory = try TemporaryDirectory()
        let proxy = try RoundTripProxy(to: PostgreSQLCluster.running().folder, in: directory.path)
        defer { proxy.close() }
        let it = try await NumberedNotes.engine(400, .postgreSQL) { settings in
            settings.readThreads = 1
            settings.postgreSQL = { $0.target = (try? proxy.target($0.target)) ?? $0.target }
        }
        let alone = await Self.found(Self.reads, it)
        var cuts = 0
        for roundTrip in 1...12 {
            proxy.arm(roundTrip, point)
            let found = await Self.found(Self.reads, it)
            if proxy.disarm() { cuts += 1 }
            for (number, (found, alone)) in zip(found, alone).enumerated() {
                // Read alone and then cut, one may fail, as it may without the others.
                if case .failure(.storageUnavailable) = found { continue }
                #expect(Self.words([found]) == Self.words([alone]), "search \(number), \(roundTrip)")
            }
        }
        #expect(cuts > 6)
        await it.store.shutdown()
    }

    // MARK: Their flights

    /// What a job does: it asks what it has said before, or something else.
    private enum Step {
        case read(SnapshotRead)
        case statement(SQL)
        case type(String)
    }

    private enum Event: Hashable {
        case began(Int, isAttempt: Bool)
        case replied(Int)
    }

    /// Executes jobs of some steps each, and returns what happened in order.
    private static func events(
        _ it: EngineUnderTest,
        _ jobs: [[Step]],
        isTooLong: @escaping @Sendable (Int) -> Bool = { _ in false },
        begin: () -> Void = {}
    ) async -> [Event] {
        let events = Mutex<[Event]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func replied(_ number: Int) {
                let count = events.withLock { events in
                    events.append(.replied(number))
                    return events.count { if case .replied = $0 { true } else { false } }
                }
                if count == jobs.count { continuation.resume() }
            }
            self.together(it) {
                for (number, steps) in jobs.enumerated() {
                    let effort = ReadJob.Effort.search(isAttempted: true)
                    var job = ReadJob(requester: it.privately, effort: effort) {
                        (snapshot, isAttempt) throws(StorageFailure) in
                        events.withLock { $0.append(.began(number, isAttempt: isAttempt)) }
                        try Self.execute(steps, in: snapshot, it)
                        if isAttempt, isTooLong(number) { return nil }
                        return { replied(number) }
                    } fail: { _ in
                        replied(-number)
                    }
                    job.prefetch = Prefetch { (_, _) in
                        steps.compactMap { if case .read(let read) = $0 { read } else { nil } }
                    }
                    it.store.engine.read(job)
                }
                begin()
            }
        }
        return events.withLock { $0 }
    }

    private static func execute(
        _ steps: [Step],
        in snapshot: any Snapshot,
        _ it: EngineUnderTest
    ) throws(StorageFailure) {
        guard let snapshot = snapshot as? PostgreSQLSnapshot else { throw .unexpected(code: 0) }
        for step in steps {
            switch step {
            case .read(let read): #expect(try snapshot.answer(read).count <= 2)
            case .statement(let sql): #expect(try snapshot.connection.rows(sql).integer(0, 0) == 7)
            case .type(let name):
                #expect(try snapshot.type(named: name, in: it.privately.environment) == nil)
            }
        }
    }

    /// Each is another question.
    private static func read(_ number: Int, _ it: EngineUnderTest) -> Step {
        .read(.range(RowRange(ZoneRow.byKey, it.privately.database), limit: 1 + number))
    }

    private static let statement = SQL("SELECT 7", reach: .directory)
    private static let failing = SQL("SELECT 7 / 0", reach: .directory)

    @Test
    func `what eight searches ask first takes one round trip, and each is executed once`() async throws {
        let directory = try TemporaryDirectory()
        let proxy = try RoundTripProxy(to: PostgreSQLCluster.running().folder, in: directory.path)
        defer { proxy.close() }
        let it = try await NumberedNotes.engine(1, .postgreSQL) { settings in
            settings.readThreads = 1
            settings.postgreSQL = { $0.target = (try? proxy.target($0.target)) ?? $0.target }
        }
        // The others are what the server does by itself, once a second.
        var fewest = Int.max
        for _ in 0..<100 where fewest != 2 {
            let jobs = (0..<10).map { [Self.read(2 * $0, it), Self.read(2 * $0 + 1, it)] }
            let happened = await Self.events(it, jobs, begin: { _ = proxy.takeRoundTrips() })
            fewest = min(fewest, proxy.takeRoundTrips())
            #expect(happened == (0..<10).flatMap { [.began($0, isAttempt: true), .replied($0)] })
        }
        #expect(fewest == 2, "eight searches, and then two")
        await it.store.shutdown()
    }

    @Test
    func `queries that wait together take one round trip`() async throws {
        let directory = try TemporaryDirectory()
        let proxy = try RoundTripProxy(to: PostgreSQLCluster.running().folder, in: directory.path)
        defer { proxy.close() }
        let it = try await NumberedNotes.engine(400, .postgreSQL) { settings in
            settings.readThreads = 1
            settings.postgreSQL = { $0.target = (try? proxy.target($0.target)) ?? $0.target }
        }
        func query(_ predicate: RecordModel.Predicate = .all, _ sort: [SortKey] = []) -> Query {
            Query(recordType: "Note", predicate: predicate, sort: sort)
        }
        let even = NumberedNotes.equals("parity", .int64(0))
        let reads = [
            QueryRead(query: query(NumberedNotes.number(.equals, 77)), zone: notes, limit: 20),
            QueryRead(query: query(even), zone: notes, limit: 20),
            QueryRead(query: query(NumberedNotes.number(.lessThan, 9)), zone: notes, limit: 20),
            QueryRead(query: query(.all, [SortKey(field: "number")]), zone: notes, limit: 20),
            QueryRead(query: query(), zone: notes, limit: 20),
            QueryRead(query: query(even), zone: notes, isCount: true),
        ]
        var fewest = Int.max
        for _ in 0..<100 where fewest != 1 {
            let found = await Self.found(reads, it, begin: { _ = proxy.takeRoundTrips() })
            fewest = min(fewest, proxy.takeRoundTrips())
            #expect(found.allSatisfy { (try? $0.get()) != nil })
        }
        #expect(fewest == 1)
        await it.store.shutdown()
    }

    @Test
    func `a search that said nothing before is executed as the others`() async throws {
        let it = try await NumberedNotes.engine(1, .postgreSQL) { $0.readThreads = 1 }
        let jobs = [[.type("Unknown")], [.statement(Self.statement)], [Self.read(0, it)], []]
        let happened = await Self.events(it, jobs)
        #expect(happened == (0..<4).flatMap { [.began($0, isAttempt: true), .replied($0)] })
    }

    @Test
    func `a search that takes too long is read alone, behind the others`() async throws {
        let it = try await NumberedNotes.engine(1, .postgreSQL) { $0.readThreads = 1 }
        let jobs: [[Step]] = [[Self.read(0, it)], [], [Self.read(1, it)], []]
        let happened = await Self.events(it, jobs, isTooLong: { $0 < 2 })
        #expect(
            happened == [
                .began(0, isAttempt: true), .began(1, isAttempt: true),
                .began(2, isAttempt: true), .replied(2), .began(3, isAttempt: true), .replied(3),
                .began(0, isAttempt: false), .replied(0), .began(1, isAttempt: false), .replied(1),
            ]
        )
    }

    @Test
    func `a search whose statement fails fails alone`() async throws {
        let it = try await NumberedNotes.engine(1, .postgreSQL) { $0.readThreads = 1 }
        let jobs = [Self.statement, Self.failing, Self.statement].map { [Step.statement($0)] }
        let happened = await Self.events(it, jobs)
        #expect(
            happened == [
                .began(0, isAttempt: true), .replied(0), .began(1, isAttempt: true),
                .began(1, isAttempt: false), .replied(-1), .began(2, isAttempt: false), .replied(2),
            ]
        )
    }

    @Test
    func `a first question that PostgreSQL refuses fails its job, and no later one`() async throws {
        let it = try await NumberedNotes.engine(20, .postgreSQL) { $0.readThreads = 1 }
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        let connection = try PostgreSQLConnection(target)
        func rename(_ name: String, _ other: String) throws {
            _ = try connection.query(
                SQL("ALTER TABLE tidemark.\(name) RENAME TO \(other)", reach: .store)
            )
        }
        let query = Query(recordType: "Note", predicate: NumberedNotes.number(.lessThan, 9))
        let read = QueryRead(query: query, zone: notes, limit: 20)
        // The engine remembers the zone and the type from now on, and asks for a list first.
        #expect(try await it.query(read).records.count == 9)
        for reads in [[read], [read, read]] {
            try rename("index_entry", "elsewhere")
            let refused = await Self.found(reads, it)
            #expect(refused.allSatisfy { (try? $0.get()) == nil })
            try rename("elsewhere", "index_entry")
            #expect(try await it.modify([save("r100", ["number": .int64(-1)])]).areSaved)
            let found = await Self.found(reads, it)
            #expect(found.map { try? $0.get().records.count } == reads.map { _ in 10 })
            _ = try await it.modify([], deletes: [id("r100")])
            #expect(try await it.query(read).records.count == 9)
        }
    }
}
