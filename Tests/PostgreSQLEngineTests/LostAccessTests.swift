import PostgreSQLCluster
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine

/// A user who is refused by PostgreSQL while a server runs, and is let in again.
@Suite(.timeLimit(.minutes(10)))
struct LostAccessTests {
    private static let password = "correct horse"

    /// A change that an operator of PostgreSQL makes, and takes back.
    struct Change: Sendable {
        let statement: String
        let takenBack: String
        let state: SQLState
    }

    static let changes = [
        Change(
            statement: "ALTER ROLE guarded PASSWORD 'other'",
            takenBack: "ALTER ROLE guarded PASSWORD '\(Self.password)'",
            state: .invalidPassword
        ),
        Change(
            statement: "ALTER ROLE guarded CONNECTION LIMIT 0",
            takenBack: "ALTER ROLE guarded CONNECTION LIMIT -1",
            state: .tooManyConnections
        ),
    ]

    @Test
    func `requests are refused with the reason in the log until the user is let in again`() async throws {
        let instance = try PostgreSQLInstance { data in
            try PostgreSQLInstance.shell("sed -i '1i local all guarded scram-sha-256' \(data)/pg_hba.conf")
        }
        try instance.administer("CREATE ROLE guarded LOGIN PASSWORD '\(Self.password)'")
        try instance.administer("CREATE DATABASE notes OWNER guarded TEMPLATE template0")
        let password = Self.password.replacing(" ", with: "%20")
        let target = try ConnectionTarget(
            "postgresql:///notes?host=\(instance.folder)&port=\(instance.port)&user=guarded&password=\(password)"
        )
        try PostgreSQLEngine.prepare(target)
        let events = Mutex<[EngineEvent]>([])
        let it = try EngineUnderTest(
            .postgreSQL,
            configure: { $0.postgreSQL = { $0.target = target } },
            report: { event in events.withLock { $0.append(event) } }
        )
        _ = try await it.modifyZones(["notes"])
        for (number, change) in Self.changes.enumerated() {
            #expect(try await it.modify([save("a\(number)")]).areSaved)
            try instance.administer(change.statement)
            // Sessions that are there would go on.
            try instance.administer(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'"
            )
            let isNamed = EngineEvent.storageUnavailable(code: change.state.number)
            while events.withLock({ !$0.contains(isNamed) }) {
                let late = ModifyRecords(scope: .private, saves: [save("late\(number)")])
                guard case .failure(.storageUnavailable) = await it.write(.modifyRecords(late)) else {
                    Issue.record("committed after \(change.statement)")
                    return
                }
            }
            try instance.administer(change.takenBack)
            #expect(try await it.savedRepeatedly(save("b\(number)")) != nil)
        }
        #expect(try await it.wrongCounters() == [])
        await it.store.shutdown()
    }
}
