import PostgreSQLCluster
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// Many saves in flight, with a database that is near or far: none is refused that one commit can take.
///
/// Round trips are as long as the test says. What the rule measures is their time and that of the bytes,
/// and not the time of this machine.
@Suite(.timeLimit(.minutes(10)))
struct BurstTests {
    /// With it a save takes about as long as in a debug build.
    private static let nanosecondsPerByte: Int64 = 300
    /// Saves of each client, one after the other.
    private static let savesEach = 3

    /// Does saves one at a time first, so that the rule knows what a commit takes.
    private static func refusals(
        delayMilliseconds: UInt32,
        clients: Int,
        of users: Int
    ) async throws -> [StoreError] {
        let directory = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        let proxy = try RoundTripProxy(
            to: cluster.folder,
            in: directory.path,
            delayMilliseconds: delayMilliseconds,
            nanosecondsPerByte: Self.nanosecondsPerByte
        )
        defer { proxy.close() }
        let it = try EngineUnderTest(.postgreSQL) { settings in
            settings.postgreSQL = {
                $0.target = (try? proxy.target($0.target)) ?? $0.target
                $0.monotonicNanoseconds = { proxy.nanoseconds }
            }
        }
        let requesters = try (0..<users).map { try Self.user($0, it) }
        for number in 0..<40 {
            let saved = try await it.modify([save("\(number)", in: .default)], by: requesters[0])
            #expect(saved.areSaved)
        }
        let errors = await withTaskGroup(of: [StoreError].self) { group in
            for client in 0..<clients {
                group.addTask { await Self.saves(client, by: requesters[client % users], it) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(it.store.statistics.requestsRefused == UInt64(errors.count))
        await it.store.shutdown()
        return errors
    }

    private static func user(_ number: Int, _ it: EngineUnderTest) throws -> Requester {
        guard number > 0 else { return it.privately }
        var requester = try it.newUser("user \(number)", number)
        requester.scope = .private
        requester.database = try #require(try it.signIn(named: "user \(number)").privateDatabase)
        return requester
    }

    private static func saves(
        _ client: Int,
        by requester: Requester,
        _ it: EngineUnderTest
    ) async -> [StoreError] {
        var errors: [StoreError] = []
        for number in 0..<Self.savesEach {
            let operation = ModifyRecords(
                scope: .private,
                saves: [save("\(client) \(number)", in: .default)]
            )
            if case .failure(let error) = await it.write(.modifyRecords(operation), by: requester) {
                errors.append(error)
            }
        }
        return errors
    }

    @Test(arguments: [0, 2, 10] as [UInt32], [300, 1_000])
    func `no save of one user in flight is refused`(milliseconds: UInt32, clients: Int) async throws {
        #expect(try await Self.refusals(delayMilliseconds: milliseconds, clients: clients, of: 1) == [])
    }

    @Test(arguments: [0, 2, 10] as [UInt32])
    func `no save of thirty users with ten in flight is refused`(milliseconds: UInt32) async throws {
        #expect(try await Self.refusals(delayMilliseconds: milliseconds, clients: 300, of: 30) == [])
    }
}
