import CloudKit
import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// A server that is stopped for a while, and comes back beside another one.
@Suite(.timeLimit(.minutes(10)))
struct StoppedServerTests {
    /// Some seconds, or as many as `TIDEMARK_STILL_SECONDS` says: after 30 the lease for housekeeping is
    /// another server's.
    private static let stillSeconds =
        ProcessInfo.processInfo.environment["TIDEMARK_STILL_SECONDS"].flatMap(Int.init) ?? 4

    @Test
    func `a server that was stopped among saves comes back, and every save is there once`() async throws {
        try await ServerPair.run { pair in
            let (one, two) = (
                try pair.device("one", port: pair.first.port), try pair.device("two", port: pair.second.port)
            )
            let isOver = Collected<Bool>()
            let writing = Task {
                var names: [String] = []
                while isOver.values.isEmpty {
                    let name = "a\(names.count)"
                    try await ServerPair.save(
                        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name)),
                        in: one
                    )
                    names.append(name)
                }
                return names
            }
            try await ServerPair.save(pair.record("b0"), in: two)
            let process = try #require(pair.first.processID)
            kill(process, SIGSTOP)
            let end = ContinuousClock.now + .seconds(Self.stillSeconds)
            var count = 1
            // A transaction that the stopped server had open holds these up for 15 seconds at most.
            repeat {
                try await ServerPair.save(pair.record("b\(count)"), in: two)
                count += 1
            } while ContinuousClock.now < end
            let lease = "SELECT node FROM tidemark.store"
            let heir = try PostgreSQLCluster.running().row(lease, in: pair.database)
            if Self.stillSeconds > 35 { #expect(heir[0].contains(pair.second.dataPath)) }
            kill(process, SIGCONT)
            try await ServerPair.save(pair.record("last"), in: one)
            isOver.append(true)
            let names = try await writing.value + (0..<count).map { "b\($0)" } + ["last"]
            let ids = names.map { CKRecord.ID(recordName: $0) }
            for device in [one, two] {
                for start in stride(from: 0, to: ids.count, by: 200) {
                    let found = try await device.records(for: Array(ids[start..<min(start + 200, ids.count)]))
                    #expect(found.values.allSatisfy { (try? $0.get()) != nil })
                }
            }
            let rows = try PostgreSQLCluster.running().row(
                "SELECT count(*)::text FROM tidemark.record WHERE name = ANY('{\(names.joined(separator: ","))}')",
                in: pair.database
            )
            #expect(rows == ["\(names.count)"])
        }
    }

    @Test
    func `a user who is revoked beside one server is refused by the other`() async throws {
        try await ServerPair.run { pair in
            let device = try pair.device("two", port: pair.second.port)
            try await ServerPair.save(pair.record("a"), in: device)
            try await pair.first.administer(["user", "revoke", "alice"] + pair.place)
            var refused: CKError?
            while refused == nil {
                do {
                    _ = try await device.record(for: CKRecord.ID(recordName: "a"))
                    try await Task.sleep(for: .milliseconds(20))
                } catch let error as CKError {
                    refused = error
                }
            }
            #expect(refused?.code == .notAuthenticated)
        }
    }
}
