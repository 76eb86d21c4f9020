import Foundation
import PostgreSQLCluster
import RecordClient
import RecordModel
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Writers change five zones, readers follow them and the database, and the server is killed and
/// started again meanwhile.
///
/// At each kill half of the clients are gone for good, with whatever they had asked; the others
/// connect again and ask again. The seed makes the same requests, not the same order of them:
/// `SEED=… swift test --filter FeedCrashTests`.
@Suite(.serialized)
struct FeedCrashTests {
    private static let container = "iCloud.feeds"

    private static var rounds: Int {
        ProcessInfo.processInfo.environment["TIDEMARK_CRASH_ROUNDS"].flatMap { Int($0) } ?? 4
    }

    /// For how long the primary of a store is killed at random; `nil` for a few rounds.
    private static var seconds: Int? {
        ProcessInfo.processInfo.environment["TIDEMARK_CLUSTER_SECONDS"].flatMap { Int($0) }
    }

    @Test(.timeLimit(.minutes(30)))
    func `readers of feeds end with exactly what was committed, however often the server is killed`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("FeedCrashTests: SEED=\(generator.seed), \(Self.rounds) rounds")
        let server = try ServerProcess()
        let token = try await Self.addUser(server)
        try await server.start()
        let kills = FeedKills(servers: [server], end: .rounds(Self.rounds))
        try await Self.check(kills, writers: 8, token, &generator)
    }

    @Test(.timeLimit(.minutes(30)))
    func `readers of feeds of three servers of one PostgreSQL end with exactly what was committed`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("FeedCrashTests: SEED=\(generator.seed), \(Self.rounds) rounds, three servers")
        let cluster = try PostgreSQLCluster.running()
        let database = try cluster.emptyDatabase()
        let servers = try await Self.servers(on: cluster.url(database: database), isSynchronous: false)
        let token = try await Self.addUser(servers[0])
        var kills = FeedKills(servers: servers, end: .rounds(Self.rounds))
        kills.settle = { killed in
            // PostgreSQL may still execute the commit of a server that is gone, which has its row locked.
            let name = try cluster.row(FeedKills.lock(of: killed), in: database)
            #expect(name.count == 1)
        }
        try await Self.check(kills, writers: 8, token, &generator)
    }

    @Test(.timeLimit(.minutes(30)))
    func `readers of feeds end with exactly what was committed, though the primary is killed as well`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("FeedCrashTests: SEED=\(generator.seed), three servers, primary and standby")
        let pair = try PostgreSQLPair(isSynchronous: true)
        let servers = try await Self.servers(on: pair.url, isSynchronous: true)
        let token = try await Self.addUser(servers[0])
        var end = FeedKills.End.rounds(Self.rounds)
        if let seconds = Self.seconds { end = .after(ContinuousClock.now + .seconds(seconds)) }
        var kills = FeedKills(servers: servers, end: end)
        kills.pair = pair
        kills.settle = { try pair.administer(FeedKills.lock(of: $0)) }
        try await Self.check(kills, writers: 16, token, &generator)
    }

    /// Three servers of one store.
    private static func servers(on url: String, isSynchronous: Bool) async throws -> [ServerProcess] {
        var servers: [ServerProcess] = []
        for _ in 0..<3 {
            let sync = isSynchronous ? "required" : "off"
            let server = try ServerProcess(
                settings: [
                    "--engine", "postgres", "--database-url", url, "--database-sync", sync,
                    // No client stores a file, and the folders are not shared.
                    "--set", "shared_assets=off",
                ]
            )
            try await server.start()
            servers.append(server)
        }
        return servers
    }

    /// Adds the user of all clients.
    private static func addUser(_ server: ServerProcess) async throws -> String {
        try await server.administer(["container", "create", Self.container])
        return try await server.administer(["user", "add", "writer", "--container", Self.container])
    }

    /// Has clients of all servers write and read while servers are killed.
    private static func check(
        _ kills: FeedKills,
        writers writersCount: Int,
        _ token: String,
        _ generator: inout SeededGenerator
    ) async throws {
        let ledger = FeedLedger()
        let clients = (0...writersCount + FeedData.readers).map {
            Self.client(kills.servers[$0 % kills.servers.count], token)
        }
        let own = clients[writersCount + FeedData.readers]
        try await Self.createZones(own.current)
        var writers: [FeedWriter] = []
        var readers: [FeedFollower] = []
        for number in 0..<writersCount {
            writers.append(
                FeedWriter(
                    number: number,
                    of: writersCount,
                    client: clients[number],
                    ledger: ledger,
                    seed: generator.next()
                )
            )
        }
        for client in clients[writersCount...].prefix(FeedData.readers) {
            readers.append(FeedFollower(client: client, ledger: ledger, seed: generator.next()))
        }
        do {
            readers = try await Self.run(writers, readers, kills, clients, &generator)
            // So that there is a zone that does not come back.
            try await FeedWriter.delete(FeedData.passingZones[0], own.current, ledger)
            let truth = try await FeedTruth(own.current)
            #expect(truth.faults(ledger) == [])
            readers = try await Self.finish(readers, truth)
        } catch {
            Issue.record("SEED=\(generator.seed): \(error)")
        }
        for client in clients { await client.shutdown() }
        for server in kills.servers { #expect(await server.end(SIGTERM) == 0) }
        // A run in which nothing was read or nobody went back would prove nothing.
        #expect(readers.allSatisfy { $0.pages > 0 })
        #expect(readers.map(\.restarts).reduce(0, +) > 0)
        print("\(readers.map(\.pages)) pages, \(readers.map(\.restarts)) restarts,", terminator: " ")
        print("\(readers.map(\.expirations)) tokens expired")
    }

    /// Kills while all work; returns the readers when the last writer is done.
    private static func run(
        _ writers: [FeedWriter],
        _ readers: [FeedFollower],
        _ kills: FeedKills,
        _ clients: [SwitchedClient],
        _ generator: inout SeededGenerator
    ) async throws -> [FeedFollower] {
        let progress = FeedProgress()
        return try await withThrowingTaskGroup(of: FeedFollower?.self) { group in
            for writer in writers {
                group.addTask {
                    defer { progress.stop() }
                    var writer = writer
                    try await writer.run { progress.answered() }
                    return nil
                }
            }
            for reader in readers {
                group.addTask {
                    defer { progress.stop() }
                    var reader = reader
                    try await reader.run { progress.isStopped }
                    return reader
                }
            }
            var round = 0
            while !kills.end.isReached(before: round), !progress.isStopped {
                await progress.wait(for: Int.random(in: 100...300, using: &generator))
                try await kills.kill(in: round, clients.dropLast(), &generator)
                round += 1
            }
            await progress.wait(for: 200)
            progress.stop()
            print("\(round) kills,", terminator: " ")
            return try await group.reduce(into: []) { ends, reader in
                if let reader { ends.append(reader) }
            }
        }
    }

    private static func finish(_ readers: [FeedFollower], _ truth: FeedTruth) async throws -> [FeedFollower] {
        try await withThrowingTaskGroup(of: FeedFollower.self) { group in
            for reader in readers {
                group.addTask {
                    var reader = reader
                    try await reader.finish(truth)
                    return reader
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private static func createZones(_ client: RecordClient) async throws {
        let modify = ModifyZones(scope: .private, saves: FeedData.zones.filter { !$0.isDefault })
        let outcomes = try await client.perform(.modifyZones(modify), timeout: .seconds(30))
        for outcome in outcomes.values {
            guard case .zone = outcome else { throw FeedFlaw("\(outcome)") }
        }
    }

    private static func client(_ server: ServerProcess, _ token: String) -> SwitchedClient {
        var configuration = ClientConfiguration(
            host: "localhost",
            port: server.port,
            trust: .authorities(file: server.authorityPath),
            container: self.container,
            accessToken: token
        )
        configuration.backoffMax = .milliseconds(500)
        return SwitchedClient { [configuration] in RecordClient(configuration: configuration) }
    }
}

/// Counts responses to writers, wakes tasks that wait for a number of them, and ends the run.
///
/// A failing task stops all others.
private final class FeedProgress: Sendable {
    private struct State {
        var left = 0
        var waiting: CheckedContinuation<Void, Never>?
        var isStopped = false
    }

    private let state = Mutex(State())

    var isStopped: Bool { self.state.withLock { $0.isStopped } }

    /// Whether to go on.
    func answered() -> Bool {
        let (waiting, isStopped) = self.state.withLock { state in
            state.left -= 1
            return (state.left <= 0 ? state.waiting.take() : nil, state.isStopped)
        }
        waiting?.resume()
        return !isStopped
    }

    func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = self.state.withLock { state in
                state.left = count
                if !state.isStopped { state.waiting = continuation }
                return state.isStopped
            }
            if isOver { continuation.resume() }
        }
    }

    func stop() {
        let waiting = self.state.withLock { state in
            state.isStopped = true
            return state.waiting.take()
        }
        waiting?.resume()
    }
}
