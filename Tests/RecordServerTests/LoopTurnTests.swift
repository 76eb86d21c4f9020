import CloudKitTesting
import Crypto
import RecordModel
import RecordServer
import RecordStore
import SQLiteEngine
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// The time of an event loop is divided by user, on however many connections.
@Suite(.timeLimit(.minutes(10)))
struct LoopTurnTests {
    private static let other = "another token"
    private static let otherRecordName = "_ffffffffffffffffffffffffffffffff"
    private static let connections = 20
    private static let requests = 100

    /// The users whose fetches the event loop took, in order; a fetch of zones holds it until the
    /// gate is opened.
    private final class Taken: Sendable {
        let fetches = Mutex<[String]>([])
        let held = Gate()
        let gate = Gate()

        func fault(_ occasion: FaultOccasion) -> Fault? {
            if occasion.operation == .fetchRecords {
                self.fetches.withLock { $0.append(occasion.userRecordName ?? "") }
            } else if occasion.operation == .fetchZones {
                self.held.open()
                self.gate.wait()
            }
            return nil
        }
    }

    /// The user sends all that their connections may have in flight while the loop does something
    /// else, and then another user one fetch.
    @Test func `a fetch waits for a turn of another user's thousands, and all of those are answered`()
        async throws
    {
        let taken = Taken()
        try await ServerUnderTest.run(configure: { $0.threads = 1 }, faults: { taken.fault($0) }) { server in
            try server.store.directory.addUser(
                named: "other",
                userRecordName: Self.otherRecordName,
                tokenHash: Array(SHA256.hash(data: Array(Self.other.utf8))),
                toContainer: ServerUnderTest.container
            )
            var greedy: [TestPeer] = []
            for _ in 0..<Self.connections { greedy.append(try await server.signIn()) }
            let other = try await server.signIn(token: Self.other)
            let holder = try await server.signIn(token: Self.other)
            let zones = FetchZones(scope: .private, selection: .ids([ServerUnderTest.zone]))
            try await holder.send(.fetchZones(zones), on: 1)
            taken.held.wait()
            for peer in greedy {
                try await peer.send(
                    (0..<Self.requests).map { .request(.fetch(["a"]), on: UInt32(2 * $0 + 1)) }
                )
            }
            try await other.send(.fetch(["a"]), on: 1)
            taken.gate.open()
            _ = try await other.answer(on: 1)
            for peer in greedy {
                var ends = 0
                while ends < Self.requests, let frame = await peer.next() {
                    if frame.kind == .end { ends += 1 }
                }
                #expect(ends == Self.requests)
            }
            let order = taken.fetches.withLock { $0 }
            #expect(order.count == Self.connections * Self.requests + 1)
            let before = try #require(order.firstIndex(of: Self.otherRecordName))
            #expect(before < Self.connections * Self.requests / 4)
        }
    }
}
