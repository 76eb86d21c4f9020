import PostgreSQLCluster
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine

/// Deadlocks and serialization failures of PostgreSQL, at random statements and at commits.
@Suite(.timeLimit(.minutes(10)))
struct RandomConflictTests {
    private static let savesPerClient = 40

    /// Triggers that fail at random as PostgreSQL itself would, and count it.
    ///
    /// A sequence keeps its number when the transaction is taken back.
    private static let planted = """
        CREATE SEQUENCE planted_count;
        CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF random() < 0.06 THEN
                PERFORM nextval('planted_count');
                IF random() < 0.5 THEN
                    RAISE EXCEPTION 'planted' USING ERRCODE = '40001';
                END IF;
                RAISE EXCEPTION 'planted' USING ERRCODE = '40P01';
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER planted_save AFTER INSERT OR UPDATE ON tidemark.record
            FOR EACH ROW EXECUTE FUNCTION planted();
        CREATE CONSTRAINT TRIGGER planted_commit AFTER INSERT ON tidemark.change
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION planted();
        CREATE TRIGGER planted_outcome AFTER INSERT ON tidemark.request
            FOR EACH ROW EXECUTE FUNCTION planted();
        """

    @Test
    func `each save is executed once while statements and commits fail at random`() async throws {
        let one = try await EngineUnderTest.withNotes(.postgreSQL)
        let two = try one.beside()
        let cluster = try PostgreSQLCluster.running()
        let database = try #require(try cluster.target(standingFor: one.folder.path).databaseName)
        try cluster.execute(script: Self.planted, in: database)
        let before = try one.position()
        try await Self.saveAll(one, two)
        #expect(try one.position() == before + Int64(4 * Self.savesPerClient))
        let planted = try cluster.row("SELECT last_value::text FROM planted_count", in: database)
        #expect(planted.first.flatMap { Int($0) } ?? 0 > 20)
    }

    @Test
    func `each save is executed once while another session locks rows in the wrong order`() async throws {
        let one = try await EngineUnderTest.withNotes(.postgreSQL)
        let two = try one.beside()
        let cluster = try PostgreSQLCluster.running()
        let target = try cluster.target(standingFor: one.folder.path)
        let database = try #require(target.databaseName)
        try cluster.administer("ALTER DATABASE \(database) SET deadlock_timeout = '5ms'")
        // Sessions that are there have the setting when they begin anew.
        try cluster.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'"
        )
        let before = try one.position()
        let other = Task { try await Self.lockInWrongOrder(target) }
        try await Self.saveAll(one, two)
        other.cancel()
        #expect(try await other.value > 0)
        #expect(try one.position() == before + Int64(4 * Self.savesPerClient))
        let counted = try cluster.row(
            "SELECT deadlocks::text FROM pg_stat_database WHERE datname = '\(database)'",
            in: database
        )
        #expect(counted.first.flatMap { Int($0) } ?? 0 > 0)
    }

    /// Saves through two servers, and looks that each is there once.
    private static func saveAll(_ one: EngineUnderTest, _ two: EngineUnderTest) async throws {
        let tags = try await withThrowingTaskGroup(of: [String: String].self) { group in
            for client in 0..<4 {
                group.addTask {
                    let it = client % 2 == 0 ? one : two
                    var tags: [String: String] = [:]
                    for number in 0..<Self.savesPerClient {
                        let name = "r\(client)-\(number)"
                        tags[name] = try await it.savedRepeatedly(EngineConformance.save(name))
                    }
                    return tags
                }
            }
            return try await group.reduce(into: [:]) { all, tags in all.merge(tags) { first, _ in first } }
        }
        #expect(tags.count == 4 * Self.savesPerClient)
        #expect(Set(tags.values).count == tags.count)
        for (name, tag) in tags { #expect(try await one.record(id(name))?.changeTag == tag) }
        #expect(try await one.isOrderWhole())
        #expect(try await one.wrongCounters() == [])
    }

    /// Locks databases before nodes, until the task is cancelled; returns how often it succeeded.
    private static func lockInWrongOrder(_ target: ConnectionTarget) async throws -> Int {
        let connection = try PostgreSQLConnection(target)
        let databases = SQL(
            #"SELECT number FROM tidemark."database" ORDER BY number FOR UPDATE"#,
            reach: .store
        )
        var succeeded = 0
        while !Task.isCancelled {
            try connection.send(TransactionSQL.begin)
            _ = try connection.query(databases)
            try? await Task.sleep(for: .milliseconds(2))
            do throws(PostgreSQLError) {
                _ = try connection.query(NodeRegistration.lockAll)
                succeeded += 1
            } catch {
                guard error.state == .deadlock else { throw error }
            }
            _ = try connection.query(TransactionSQL.rollback)
            try? await Task.sleep(for: .milliseconds(3))
        }
        return succeeded
    }
}
