import PostgreSQLCluster
import RecordModel
import StorageContract
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// A recovery of PostgreSQL to an earlier point in time.
@Suite(.timeLimit(.minutes(10)))
struct RecoveryTests {
    private static func store(_ target: ConnectionTarget) async throws -> EngineUnderTest {
        try PostgreSQLEngine.prepare(target)
        return try await EngineUnderTest.withNotes(.postgreSQL) {
            $0.postgreSQL = { $0.target = target }
        }
    }

    @Test
    func `after a recovery to a point in time clients fetch everything anew, and no tag comes again`()
        async throws
    {
        var options = PostgreSQLInstance.Options()
        options.settings = [
            "wal_level=replica", "max_wal_senders=2", "archive_mode=on",
            "archive_command=cp %p ../archive/%f",
        ]
        options.creation = "--wal-segsize=1"
        let primary = try PostgreSQLInstance(options)
        // The folder of the archive is there before anything is archived in vain for long.
        try primary.runAsOwner("mkdir -p \(primary.folder)/archive")
        let it = try await Self.store(try primary.target())
        #expect(try await it.modify([save("before")]).areSaved)
        let epochs = try it.rows(DatabaseRow.self).map(\.epoch)
        let copy = "\(primary.folder)/copy"
        try primary.run(
            "pg_basebackup -h \(primary.folder) -p \(primary.port) -U tidemark -D \(copy) -X none -c fast --no-sync"
        )
        #expect(try await it.modify([save("kept")]).areSaved)
        try primary.administer("SELECT pg_create_restore_point('here')")
        let lost = try await it.modify([save("lost")])[0].tag
        let lostPosition = try #require(lost.flatMap { Int64($0, radix: 36) })
        await it.store.shutdown()
        // A shutdown archives what there is.
        try primary.administer("SELECT pg_switch_wal()")
        try await primary.stop()
        try primary.runAsOwner("touch \(copy)/recovery.signal")
        try primary.runAsOwner("rm -rf \(primary.data)")
        try primary.runAsOwner("mv \(copy) \(primary.data)")
        try PostgreSQLInstance.shell(
            """
            printf '%s\\n' "restore_command = 'cp ../archive/%f %p'" "recovery_target_name = 'here'" \
            "recovery_target_action = 'promote'" >> \(primary.data)/postgresql.auto.conf
            """
        )
        try primary.start()
        // Until the recovery has ended, the server takes reads alone.
        let restored = try await Self.opened(it, try primary.target())
        let now = try restored.rows(DatabaseRow.self).map(\.epoch)
        #expect(now.count == epochs.count && Set(now).isDisjoint(with: epochs))
        for name in ["before", "kept"] { #expect(try await restored.record(id(name)) != nil) }
        #expect(try await restored.record(id("lost")) == nil)
        let tag = try await restored.modify([save("after")])[0].tag
        #expect(try #require(tag.flatMap { Int64($0, radix: 36) }) > lostPosition)
        #expect(try await restored.isOrderWhole())
        #expect(try await restored.wrongCounters() == [])
        await restored.store.shutdown()
    }

    private static func opened(
        _ it: EngineUnderTest,
        _ target: ConnectionTarget
    ) async throws -> EngineUnderTest {
        while true {
            do {
                return try EngineUnderTest(.postgreSQL, openingFilesIn: it.folder) {
                    $0.postgreSQL = { $0.target = target }
                }
            } catch PostgreSQLEngineError.isReadOnly {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
