import Foundation
import PostgreSQLCluster
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine

/// Servers whose clock is off, that stand still, or that have another version.
@Suite(.timeLimit(.minutes(10)))
struct NodeFaultTests {
    private static let yearMilliseconds: Int64 = 365 * 86_400_000

    private static func database(_ it: EngineUnderTest) throws -> String {
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        return target.databaseName ?? ""
    }

    private static var nowMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    // MARK: Clocks

    @Test(arguments: [10, -10])
    func `a server whose clock is off by years writes times of PostgreSQL's clock, and takes no lease`(
        years: Int64
    ) async throws {
        let right = ManualClock(milliseconds: Self.nowMilliseconds)
        let wrong = ManualClock(milliseconds: Self.nowMilliseconds + years * Self.yearMilliseconds)
        // The first makes container and users, and keeps house.
        let first = try EngineUnderTest(.postgreSQL)
        let configure: (inout EngineSettings) -> Void = { $0.postgreSQL = { $0.usesDatabaseClock = true } }
        await first.store.shutdown()
        let one = try EngineUnderTest(
            .postgreSQL,
            openingFilesIn: first.folder,
            clock: right,
            configure: configure
        )
        #expect(try await one.repeated(Self.zones, id: Self.newID())[0].error == nil)
        let lease = "SELECT term::text, node FROM tidemark.store"
        let cluster = try PostgreSQLCluster.running()
        let database = try Self.database(one)
        while try cluster.row(lease, in: database)[1].isEmpty {
            try await Task.sleep(for: .milliseconds(20))
        }
        let holder = try cluster.row(lease, in: database)
        let two = try EngineUnderTest(
            .postgreSQL,
            openingFilesIn: first.folder,
            clock: wrong,
            configure: configure
        )
        for number in 0..<20 {
            let it = number % 2 == 0 ? one : two
            let note = ModifyRecords(scope: .private, saves: [save("r\(number)")])
            // The client's clock is right, as its request IDs are.
            let outcome = try await it.repeated(.modifyRecords(note), id: Self.newID())[0]
            #expect(outcome.error == nil)
        }
        let off = try cluster.row(
            """
            SELECT count(*)::text, max(abs(modified_ms - extract(epoch FROM clock_timestamp()) * 1000))::bigint::text
            FROM tidemark.record WHERE name LIKE 'r%'
            """,
            in: database
        )
        #expect(Int(off[0]) ?? 0 >= 20)
        #expect(Int64(off[1]) ?? .max < 600_000)
        #expect(try cluster.row(lease, in: database) == holder)
        // Results of requests are known for as long as they should be, whoever keeps house.
        await one.store.shutdown()
        while try cluster.row(lease, in: database)[1] == holder[1] {
            try await Task.sleep(for: .milliseconds(20))
        }
        try await Task.sleep(for: .milliseconds(300))
        let known = try cluster.row("SELECT count(*)::text FROM tidemark.request", in: database)
        #expect(Int(known[0]) ?? 0 >= 20)
        await two.store.shutdown()
    }

    private static let zones = WriteRequest.Operation.modifyZones(
        ModifyZones(scope: .private, saves: [notes])
    )

    private static func newID() -> RequestID {
        var generator = SystemRandomNumberGenerator()
        return RequestID(milliseconds: self.nowMilliseconds, using: &generator)
    }

    @Test(arguments: [10, -10])
    func `a server whose clock is off does not look for housekeeping without a pause`(
        years: Int64
    ) async throws {
        let cluster = try PostgreSQLCluster.running()
        var configuration = PostgreSQLEngineConfiguration(
            target: try cluster.target(database: cluster.emptyDatabase()),
            role: .server(node: "n"),
            housekeeping: Housekeeping.maker()
        )
        configuration.usesDatabaseClock = true
        let looks = Atomic<Int>(0)
        let keepsHouse = Atomic<Bool>(false)
        configuration.notice = { if $0 == .keepsHouse { keepsHouse.store(true, ordering: .relaxed) } }
        let engine = try PostgreSQLEngine(
            configuration: configuration,
            clock: {
                looks.add(1, ordering: .relaxed)
                return Self.nowMilliseconds + years * Self.yearMilliseconds
            },
            report: { _ in }
        )
        while !keepsHouse.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(10)) }
        try await Task.sleep(for: .milliseconds(200))
        let before = looks.load(ordering: .relaxed)
        try await Task.sleep(for: .seconds(1))
        #expect(looks.load(ordering: .relaxed) - before < 100)
        await engine.shutdown()
    }

    // MARK: Standing still

    /// The place at which a server stands still.
    enum Stillness: CaseIterable {
        /// Between two flights of a transaction.
        case inTransaction
        /// In the middle of a flight, so PostgreSQL waits for the rest of it.
        case inFlight
    }

    /// A session that has the locks of a server's transaction, and says nothing more.
    private static func standStill(
        _ it: EngineUnderTest,
        _ stillness: Stillness
    ) throws -> PostgreSQLConnection {
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        let connection = try PostgreSQLConnection(target)
        try connection.send(TransactionSQL.begin)
        let database = SQLValue.integers([it.privately.database.rawValue])
        _ = try connection.query(CounterSQL.lockDatabases, [database])
        if case .inFlight = stillness {
            // The buffer of libpq goes out when it is full: a statement without the end of its flight.
            let bytes = [UInt8](repeating: 1, count: 200_000)
            try connection.send(SQL("SELECT $1::bytea", reach: .store), [.bytes(bytes)])
        }
        return connection
    }

    @Test(arguments: Stillness.allCases)
    func `a server that stops with locks holds others up for some seconds, and commits nothing after that`(
        stillness: Stillness
    ) async throws {
        let one = try await EngineUnderTest.withNotes(.postgreSQL)
        let two = try one.beside()
        let still = try Self.standStill(one, stillness)
        // It waits for the locks, and is executed when PostgreSQL has ended the session that has them.
        #expect(try await two.savedRepeatedly(save("a")) != nil)
        #expect(throws: PostgreSQLError.self) {
            for _ in 0..<3 { _ = try still.query(TransactionSQL.commit) }
        }
        #expect(still.isLost)
        #expect(try await two.wrongCounters() == [])
    }

    // MARK: Versions

    @Test
    func `a server whose tables another version has changed commits nothing more, and says so`() async throws
    {
        let found = Mutex<[Int]>([])
        let it = try await EngineUnderTest.withNotes(.postgreSQL) {
            $0.postgreSQL = { configuration in
                configuration.notice = { notice in
                    if case .otherFormat(let format) = notice { found.withLock { $0.append(format) } }
                }
            }
        }
        let database = try Self.database(it)
        let cluster = try PostgreSQLCluster.running()
        try cluster.row("UPDATE tidemark.store SET format = format + 1", in: database)
        let late = ModifyRecords(scope: .private, saves: [save("late")])
        guard case .failure(.storageUnavailable) = await it.write(.modifyRecords(late)) else {
            Issue.record("committed")
            return
        }
        #expect(found.withLock { $0.first } == Int(StoreTables.format) + 1)
        let count = try cluster.row(
            "SELECT count(*)::text FROM tidemark.record WHERE name = 'late'",
            in: database
        )
        #expect(count == ["0"])
        await it.store.shutdown()
    }

    @Test
    func `a server without requests notices another version too`() async throws {
        let (stream, found) = AsyncStream<Int>.makeStream()
        let it = try await EngineUnderTest.withNotes(.postgreSQL) {
            $0.postgreSQL = { configuration in
                configuration.notice = { if case .otherFormat(let format) = $0 { found.yield(format) } }
            }
        }
        try PostgreSQLCluster.running().row(
            "UPDATE tidemark.store SET format = format + 1",
            in: Self.database(it)
        )
        for await format in stream {
            #expect(format == Int(StoreTables.format) + 1)
            break
        }
        await it.store.shutdown()
    }
}
