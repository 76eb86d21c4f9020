import EngineThreads
import PostgreSQLCluster
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// Connections that are cut before, inside and behind each flight of a request, and of an opening.
@Suite(.timeLimit(.minutes(10)))
struct RoundTripCutTests {
    /// More than any request takes, reconnecting included.
    private static let roundTripsMax = 60

    /// A request that is made with each flight cut, and the positions that it takes.
    private struct Step: Sendable {
        let name: String
        let positions: Int64
        let operation: @Sendable (_ number: Int) -> WriteRequest.Operation
        /// Whether the store has what the request wanted.
        let isThere: @Sendable (_ number: Int, _ outcome: WriteOutcome, EngineUnderTest) async throws -> Bool
    }

    private static let steps = [
        Step(name: "save", positions: 1) { number in
            .modifyRecords(ModifyRecords(scope: .private, saves: [save("r\(number)")]))
        } isThere: { number, outcome, it in
            try await Self.record("r\(number)", it)?.changeTag == outcome.tag
        },
        Step(name: "change", positions: 1) { number in
            let change = save("changed", ["n": .int64(Int64(number))])
            return .modifyRecords(ModifyRecords(scope: .private, saves: [change], policy: .allKeys))
        } isThere: { _, outcome, it in
            try await Self.record("changed", it)?.changeTag == outcome.tag
        },
        Step(name: "delete", positions: 1) { number in
            .modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [id("d\(number)")]))
        } isThere: { number, outcome, it in
            let left = try await Self.record("d\(number)", it)
            return outcome == .deleted && left == nil
        },
        // It locks the whole store.
        Step(name: "zone", positions: 1) { number in
            .modifyZones(ModifyZones(scope: .private, saves: [ZoneID(zoneName: "z\(number)")]))
        } isThere: { _, outcome, _ in
            outcome.error == nil
        },
    ]

    private static func record(_ name: String, _ it: EngineUnderTest) async throws -> Record? {
        // A connection for reading that was cut is found out by the next read.
        for _ in 0..<5 {
            if let record = try? await it.record(id(name)) { return record }
        }
        return try await it.record(id(name))
    }

    @Test(arguments: RoundTripProxy.Point.allCases, [false, true])
    func `a request is executed once, wherever its connection is cut`(
        point: RoundTripProxy.Point,
        isConnectionNew: Bool
    ) async throws {
        let directory = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        let proxy = try RoundTripProxy(to: cluster.folder, in: directory.path)
        defer { proxy.close() }
        let it = try await EngineUnderTest.withNotes(behind: proxy)
        let deleted = (1...Self.roundTripsMax).map { save("d\($0)") }
        #expect(try await it.modify([save("changed")] + deleted).areSaved)
        var cuts = 0
        for step in Self.steps {
            for roundTrip in 1...Self.roundTripsMax {
                let before = try await Self.position(it)
                proxy.arm(roundTrip, point)
                if isConnectionNew { proxy.dropAll() }
                let outcome = try await it.repeated(step.operation(roundTrip))[0]
                let wasCut = proxy.disarm()
                #expect(try await step.isThere(roundTrip, outcome, it), "\(step.name), \(roundTrip)")
                #expect(
                    try await Self.position(it) == before + step.positions,
                    "\(step.name), \(roundTrip)"
                )
                guard wasCut else { break }
                cuts += 1
            }
        }
        // At least the locks, what the rules read, and the commit of each.
        #expect(cuts >= (isConnectionNew ? 20 : 8))
        #expect(try await it.isOrderWhole())
        #expect(try await it.wrongCounters() == [])
        await it.store.shutdown()
    }

    private static func position(_ it: EngineUnderTest) async throws -> Int64 {
        for _ in 0..<5 {
            if let position = try? it.position() { return position }
        }
        return try it.position()
    }

    @Test(arguments: [RoundTripProxy.Point.before, .behind])
    func `an opening that is cut says so, and can be repeated`(point: RoundTripProxy.Point) async throws {
        let directory = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        let proxy = try RoundTripProxy(to: cluster.folder, in: directory.path)
        defer { proxy.close() }
        var cuts = 0
        for roundTrip in 1...Self.roundTripsMax {
            // Tables are made by some openings, and found by the others.
            let target = try proxy.target(cluster.target(database: cluster.emptyDatabase()))
            proxy.arm(roundTrip, point)
            do throws(PostgreSQLEngineError) {
                try await Self.open(target).shutdown()
            } catch .unreachable {
            } catch {
                Issue.record("roundTrip \(roundTrip): \(error)")
            }
            let wasCut = proxy.disarm()
            let engine = try Self.open(target)
            try engine.administer { try $0.put(SecretRow(name: "s", bytes: [1])) }
            #expect(try engine.readTables { try $0.count(RowRange(SecretRow.byKey)) } == 1)
            await engine.shutdown()
            guard wasCut else { break }
            cuts += 1
        }
        #expect(cuts > 5)
    }

    private static func open(_ target: ConnectionTarget) throws(PostgreSQLEngineError) -> PostgreSQLEngine {
        try PostgreSQLEngine(
            configuration: PostgreSQLEngineConfiguration(
                target: target,
                role: .server(node: "n"),
                housekeeping: Housekeeping.maker()
            ),
            clock: { 0 },
            report: { _ in }
        )
    }
}
