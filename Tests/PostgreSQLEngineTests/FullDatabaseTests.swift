import PostgreSQLCluster
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine

/// A PostgreSQL server that has no room for what is to be written.
@Suite(.timeLimit(.minutes(10)))
struct FullDatabaseTests {
    private static let diskBytes = 24 * 1_024 * 1_024
    private static let bodyBytes = 50_000

    @Test
    func `a full database refuses saves, reads go on, and saves go on when there is room`() async throws {
        var options = PostgreSQLInstance.Options()
        // Files of the log have to fit where the size of files is limited.
        options.creation = "--wal-segsize=1"
        options.smallDiskBytes = Self.diskBytes
        let instance = try PostgreSQLInstance(options)
        let target = try instance.target("small")
        try PostgreSQLEngine.prepare(target)
        let events = Mutex<[EngineEvent]>([])
        let time = ManualClock(milliseconds: 0)
        let it = try EngineUnderTest(
            .postgreSQL,
            configure: {
                $0.time = time
                $0.postgreSQL = { $0.target = target }
            },
            report: { event in events.withLock { $0.append(event) } }
        )
        _ = try await it.modifyZones(["notes"])
        var generator = SeededGenerator.fromEnvironment()
        var tags: [String: String] = [:]
        var refused: StoreError?
        // No two bodies have anything in common that a compression could save.
        for number in 0..<1_000 where refused == nil {
            let body = (0..<Self.bodyBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let note = save("r\(number)", ["data": .bytes(body)])
            switch await it.write(.modifyRecords(ModifyRecords(scope: .private, saves: [note]))) {
            case .success(let outcomes): tags["r\(number)"] = outcomes[0].tag
            case .failure(let error): refused = error
            }
        }
        guard case .storageUnavailable? = refused else {
            Issue.record("\(tags.count) saves, then \(String(describing: refused))")
            return
        }
        #expect(tags.count > 20)
        #expect(events.withLock { $0 } == [.diskFull, .changesRefused(1)])
        #expect(it.store.condition == .full)
        #expect(it.store.statistics.reserveMissingBytes > 0)
        // However long nobody asks for anything.
        for _ in 0..<3 {
            time.advance(milliseconds: 60_000)
            _ = await it.write(.modifyRecords(ModifyRecords(scope: .private, saves: [save("late")])))
            if PostgreSQLInstance.mayMount { #expect(it.store.condition == .full) }
        }
        for (name, tag) in tags { #expect(try await it.record(id(name))?.changeTag == tag) }
        // A delete takes little room.
        try instance.remove(.small)
        let outcomes = try await it.modify([], deletes: [id("r0")])
        #expect(outcomes[0].error == nil)
        tags["r0"] = nil
        try instance.remove(.large)
        let data = FieldValue.bytes((0..<Self.bodyBytes).map { UInt8(truncatingIfNeeded: $0 * 7919 >> 3) })
        for number in 0..<20 {
            tags["s\(number)"] = try await it.savedRepeatedly(save("s\(number)", ["data": data]))
        }
        for (name, tag) in tags { #expect(try await it.record(id(name))?.changeTag == tag) }
        #expect(try await it.record(id("r0")) == nil)
        while it.store.condition == .full {
            time.advance(milliseconds: 10_000)
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(it.store.statistics.reserveMissingBytes == 0)
        #expect(events.withLock { $0.last } == .diskHasRoom)
        #expect(try await it.isOrderWhole())
        #expect(try await it.wrongCounters() == [])
        await it.store.shutdown()
    }
}
