import Foundation
import PostgreSQLCluster
import TestSupport

/// The servers that are killed while clients write and read.
struct FeedKills {
    enum End {
        case rounds(Int)
        case after(ContinuousClock.Instant)

        func isReached(before round: Int) -> Bool {
            switch self {
            case .rounds(let count): round >= count
            case .after(let time): .now >= time
            }
        }
    }

    let servers: [ServerProcess]
    let end: End
    /// The PostgreSQL servers of the store, if the primary is killed as well.
    var pair: PostgreSQLPair?
    /// Waits until nothing is executed any more for a server that was killed.
    var settle: (ServerProcess) throws -> Void = { _ in }

    /// A statement that waits for the row of a server, which its transactions have locked.
    static func lock(of server: ServerProcess) -> String {
        "SELECT name FROM tidemark.node WHERE name LIKE '%' || '\(server.dataPath)' FOR UPDATE"
    }

    /// Kills a server, the primary or both, and brings back what was killed.
    ///
    /// Half of the clients of a killed server are gone for good.
    func kill(
        in round: Int,
        _ clients: ArraySlice<SwitchedClient>,
        _ generator: inout SeededGenerator
    ) async throws {
        let number = self.pair == nil ? round : Int.random(in: 0..<self.servers.count, using: &generator)
        let killed = number % self.servers.count
        // Each of the three comes early: a short run should have all of them.
        let kinds = self.pair == nil ? [.server] : Kind.allCases
        let kind = kinds[round < kinds.count ? round : .random(in: kinds.indices, using: &generator)]
        let server = self.servers[killed]
        if kind != .primary { await server.end(SIGKILL) }
        if kind != .server, let pair {
            try pair.failOver()
            try pair.addStandby()
            try pair.demandStandby()
        }
        guard kind != .primary else { return }
        try self.settle(server)
        for (number, client) in clients.enumerated()
        where number % self.servers.count == killed && Bool.random(using: &generator) {
            await client.replace()
        }
        try await self.start(server)
    }

    private enum Kind: CaseIterable {
        case primary
        case both
        case server
    }

    /// A standby that has just begun may not confirm commits yet: a server demands one.
    private func start(_ server: ServerProcess) async throws {
        for _ in 0..<50 {
            if (try? await server.start()) != nil { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        try await server.start()
    }
}
