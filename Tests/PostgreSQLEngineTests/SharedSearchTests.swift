import Foundation
import PostgreSQLCluster
import RecordModel
import Synchronization
import TestSupport
import Testing

@testable import EngineConformanceTests
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
        _ it: EngineUnderTest
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

    @Test(arguments: FlightProxy.Point.allCases)
    func `a connection that is cut costs none of them its result`(point: FlightProxy.Point) async throws {
        let directory = try TemporaryDirectory()
        let proxy = try FlightProxy(to: PostgreSQLCluster.running().folder, in: directory.path)
        defer { proxy.close() }
        let it = try await NumberedNotes.engine(400, .postgreSQL) { settings in
            settings.readThreads = 1
            settings.postgreSQL = { $0.target = (try? proxy.target($0.target)) ?? $0.target }
        }
        let alone = await Self.found(Self.reads, it)
        var cuts = 0
        for flight in 1...12 {
            proxy.arm(flight, point)
            let found = await Self.found(Self.reads, it)
            if proxy.disarm() { cuts += 1 }
            for (number, (found, alone)) in zip(found, alone).enumerated() {
                // Read alone and then cut, one may fail, as it may without the others.
                if case .failure(.storageUnavailable) = found { continue }
                #expect(Self.words([found]) == Self.words([alone]), "search \(number), flight \(flight)")
            }
        }
        #expect(cuts > 6)
        await it.store.shutdown()
    }

    // MARK: Their flights

    /// A statement, or what asks for others.
    private enum Step {
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
        isTooLong: @escaping @Sendable (Int) -> Bool = { _ in false }
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
                    let job = ReadJob(requester: it.privately, effort: effort) {
                        (snapshot, isAttempt) throws(StorageFailure) in
                        events.withLock { $0.append(.began(number, isAttempt: isAttempt)) }
                        guard let snapshot = snapshot as? PostgreSQLSnapshot else {
                            throw .unexpected(code: 0)
                        }
                        for (place, step) in steps.enumerated() {
                            switch step {
                            case .statement(let sql):
                                let rows = try snapshot.rows(sql, [.integer(Int64(number))])
                                #expect(rows.integer(0, 0) == Int64(number + place))
                            case .type(let name):
                                let environment = it.privately.environment
                                #expect(try snapshot.type(named: name, in: environment) == nil)
                            }
                        }
                        if isAttempt, isTooLong(number) { return nil }
                        return { replied(number) }
                    } fail: { _ in
                        replied(-number)
                    }
                    it.store.engine.read(job)
                }
            }
        }
        return events.withLock { $0 }
    }

    private static let first = SQL("SELECT $1::bigint", reach: .directory)
    private static let microseconds = SQL(
        "SELECT $1::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
        reach: .directory
    )
    private static let second = SQL("SELECT $1::bigint + 1", reach: .directory)
    private static let failing = SQL("SELECT $1::bigint / 0", reach: .directory)

    @Test
    func `eight searches are sent before one of them has its answer`() async throws {
        let it = try await NumberedNotes.engine(1, .postgreSQL) { $0.readThreads = 1 }
        let happened = await Self.events(
            it,
            Array(repeating: [.statement(Self.first), .statement(Self.second)], count: 10)
        )
        var expected: [Event] = []
        for batch in [0..<8, 8..<10] {
            expected += batch.map { .began($0, isAttempt: true) }
            for number in batch { expected += [.began(number, isAttempt: true), .replied(number)] }
        }
        #expect(happened == expected)
    }

    @Test
    func `the first statements of searches travel together`() async throws {
        let it = try await NumberedNotes.engine(1, .postgreSQL) { $0.readThreads = 1 }
        let executed = Mutex<[Int64]>([])
        let again = Mutex<Int64?>(nil)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Self.together(it) {
                for number in 0..<8 {
                    let begins = Mutex(0)
                    let effort = ReadJob.Effort.search(isAttempted: true)
                    let job = ReadJob(requester: it.privately, effort: effort) {
                        (snapshot, _) throws(StorageFailure) in
                        let isFirst = begins.withLock { begins in
                            defer { begins += 1 }
                            return begins == 0
                        }
                        if !isFirst {
                            again.withLock { $0 = $0 ?? Int64(Date().timeIntervalSince1970 * 1_000_000) }
                        }
                        guard let snapshot = snapshot as? PostgreSQLSnapshot else { return nil }
                        let rows = try snapshot.rows(Self.microseconds, [.integer(Int64(number))])
                        executed.withLock { $0.append(rows.integer(0, 1)) }
                        return { if number == 7 { continuation.resume() } }
                    } fail: { _ in
                        Issue.record("a search failed")
                    }
                    it.store.engine.read(job)
                }
            }
        }
        let (times, second) = (executed.withLock { $0 }, try #require(again.withLock { $0 }))
        // All were executed before the first of them went on.
        #expect(times.count == 8 && times.allSatisfy { $0 <= second }, "\(times), \(second)")
    }

    @Test
    func `a search that waits before its first statement goes on as the others`() async throws {
        let it = try await NumberedNotes.engine(1, .postgreSQL) { $0.readThreads = 1 }
        let happened = await Self.events(
            it,
            [[.type("Unknown")], [.statement(Self.first)], [.type("Other")]]
        )
        var expected: [Event] = (0..<3).map { .began($0, isAttempt: true) }
        for number in 0..<3 { expected += [.began(number, isAttempt: true), .replied(number)] }
        #expect(happened == expected)
    }

    @Test
    func `a search that takes too long is read alone, behind the others`() async throws {
        let it = try await NumberedNotes.engine(1, .postgreSQL) { $0.readThreads = 1 }
        let jobs: [[Step]] = [[.statement(Self.first)], [], [.statement(Self.first)], []]
        let happened = await Self.events(it, jobs) { $0 < 2 }
        #expect(
            happened == (0..<4).map { .began($0, isAttempt: true) } + [
                .began(0, isAttempt: true), .began(2, isAttempt: true), .replied(2), .replied(3),
                .began(0, isAttempt: false), .replied(0), .began(1, isAttempt: false), .replied(1),
            ]
        )
    }

    @Test
    func `a search whose statement fails fails alone`() async throws {
        let it = try await NumberedNotes.engine(1, .postgreSQL) { $0.readThreads = 1 }
        let jobs = [Self.first, Self.failing, Self.first].map { [Step.statement($0)] }
        let happened = await Self.events(it, jobs)
        #expect(
            happened == (0..<3).map { .began($0, isAttempt: true) } + [
                .began(0, isAttempt: false), .replied(0), .began(1, isAttempt: false), .replied(-1),
                .began(2, isAttempt: false), .replied(2),
            ]
        )
    }
}
