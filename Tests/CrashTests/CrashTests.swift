import Foundation
import RecordClient
import RecordModel
import Synchronization
import TestSupport
import Testing

/// A server is killed while it writes, over and over on the same folder.
///
/// Half of the writers lose their connection for good: of their last save nobody knows, and it must
/// be there whole or not at all. The other half connect to the next server and send their last save
/// again: it must take effect once, which a save of a version with the tag of the one before cannot
/// do twice.
@Suite(.serialized)
struct CrashTests {
    private static let container = "iCloud.crash"
    private static let writers = 6

    private static var rounds: Int {
        ProcessInfo.processInfo.environment["TIDEMARK_CRASH_ROUNDS"].flatMap { Int($0) } ?? 4
    }

    @Test(.timeLimit(.minutes(30)))
    func `a killed server has every acknowledged save, whole batches, and executes replays once`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("CrashTests: SEED=\(generator.seed), \(Self.rounds) rounds")
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        let token = try await server.administer(["user", "add", "writer", "--container", Self.container])
        try await server.start()
        let admin = Self.client(server, token)
        let zone = ModifyZones(scope: .private, saves: [RecordGroup.zone])
        _ = try await admin.perform(.modifyZones(zone), timeout: .seconds(30))

        var writers = (0..<Self.writers).map { Writer(number: $0, seed: generator.next()) }
        for _ in 0..<Self.rounds {
            let killAfter = Int.random(in: 1...200, using: &generator)
            writers = try await Self.round(writers, server, token, killAfter: killAfter)
            for index in writers.indices {
                for group in writers[index].groups.indices {
                    let state = try await writers[index].groups[group].fetched(by: admin)
                    try writers[index].groups[group].recovered(state)
                }
            }
        }
        await admin.shutdown()
        #expect(await server.end(SIGTERM) == 0)
        let versions = writers.flatMap(\.groups).compactMap(\.acknowledged?.version).reduce(0, +)
        #expect(versions >= Self.rounds)
    }

    /// Writes until so many saves are acknowledged, kills, starts again, and lets the survivors send again.
    private static func round(
        _ writers: [Writer],
        _ server: ServerProcess,
        _ token: String,
        killAfter: Int
    ) async throws -> [Writer] {
        let clients = writers.map { _ in self.client(server, token) }
        let progress = Progress(killAfter: killAfter)
        let tasks = zip(writers, clients).map { writer, client in
            Task {
                var writer = writer
                defer { progress.finish() }
                try await writer.run(client) { progress.acknowledged() }
                return writer
            }
        }
        await progress.waitUntilDue()
        await server.end(SIGKILL)
        progress.stop()
        for client in clients.enumerated() where client.offset.isMultiple(of: 2) {
            await client.element.shutdown()
        }
        try await server.start()
        var result: [Writer] = []
        for task in tasks { result.append(try await task.value) }
        for client in clients { await client.shutdown() }
        return result
    }

    private static func client(_ server: ServerProcess, _ token: String) -> RecordClient {
        RecordClient(
            configuration: ClientConfiguration(
                host: "localhost",
                port: server.port,
                trust: .authorities(file: server.authorityPath),
                container: self.container,
                accessToken: token
            )
        )
    }
}

/// Counts answers, tells when it is time to kill, and then that it is time to stop.
private final class Progress: Sendable {
    private struct State {
        var left: Int
        var isStopped = false
    }

    private let state: Mutex<State>
    private let due: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(killAfter: Int) {
        self.state = Mutex(State(left: killAfter))
        (self.due, self.signal) = AsyncStream<Void>.makeStream()
    }

    /// Whether to go on.
    func acknowledged() -> Bool {
        let (isDue, isStopped) = self.state.withLock { state in
            state.left -= 1
            return (state.left == 0, state.isStopped)
        }
        if isDue { self.finish() }
        return !isStopped
    }

    func stop() { self.state.withLock { $0.isStopped = true } }

    /// A writer that fails ends the wait, too.
    func finish() { self.signal.finish() }

    func waitUntilDue() async { for await _ in self.due {} }
}
