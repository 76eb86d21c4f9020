import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import ServiceLifecycleTestKit
import StorageContract
import Synchronization
import TestSupport

@testable import Console

/// A console on a real store, and a browser that has come with the link.
final class ConsoleScene: Sendable {
    static let container = "iCloud.org.example.app"
    static let place = "/c/iCloud.org.example.app/development"
    static let alice = "_00000000000000000000000000000a11"

    let folder: TemporaryDirectory
    let clock: ManualClock
    /// The engine that writes, as a server's beside the console.
    let store: Store
    private let reader: Store
    /// A test's changes of the console's configuration.
    private let adjustment = Mutex<@Sendable (inout ConsoleConfiguration) -> Void>({ _ in })
    private let generator = Mutex(SeededGenerator(seed: 1))

    init() throws {
        self.folder = try TemporaryDirectory()
        self.clock = ManualClock()
        let clock = self.clock
        var configuration = SQLiteEngineConfiguration(
            directory: self.folder.path,
            housekeeping: Housekeeping.maker()
        )
        configuration.durability = .relaxed
        self.store = Store(
            try SQLiteEngine(configuration: configuration, clock: { clock.milliseconds }, report: { _ in }),
            configuration: StoreConfiguration(clock: { clock.milliseconds })
        )
        configuration.preparation = .none
        configuration.isReader = true
        self.reader = Store(
            try SQLiteEngine(configuration: configuration, clock: { clock.milliseconds }, report: { _ in }),
            configuration: StoreConfiguration(clock: { clock.milliseconds })
        )
    }

    /// With a container, and alice who has signed in.
    static func withAlice() throws -> ConsoleScene {
        let scene = try ConsoleScene()
        let directory = scene.store.directory
        try directory.createContainer(self.container)
        try directory.addUser(
            named: "alice",
            userRecordName: self.alice,
            tokenHash: [UInt8](repeating: 7, count: 32),
            toContainer: self.container
        )
        _ = try directory.accountWithDatabases(
            named: "alice",
            ofContainer: self.container,
            environment: .development
        )
        return scene
    }

    /// Changes the configuration of consoles that are run from now on.
    func adjust(_ change: @escaping @Sendable (inout ConsoleConfiguration) -> Void) {
        self.adjustment.withLock { $0 = change }
    }

    // MARK: The console

    /// The pages of a console that is not run.
    var pages: ConsolePages {
        let configuration = self.configuration
        return ConsolePages(
            store: self.reader,
            configuration: configuration,
            sessions: Sessions(secret: Secret.make(), now: configuration.now)
        )
    }

    /// Runs a console, and calls the body with a browser that has a session.
    func browsing(_ body: @escaping @Sendable (ConsoleClient) async throws -> Void) async throws {
        try await self.running { client, link in
            var client = client
            _ = try await client.open(link)
            try await body(client)
        }
    }

    /// The same without a session; the body gets the path of the link.
    ///
    /// - Returns: How the console ended, if it did so by itself.
    @discardableResult
    func running(
        _ body: @escaping @Sendable (ConsoleClient, String) async throws -> Void
    ) async throws -> ConsoleEnd? {
        let console = Console(self.reader, configuration: self.configuration)
        let (stream, continuation) = AsyncStream.makeStream(of: Console.Running.self)
        // A console that is canceled closes its socket twice, and logs that as an error.
        return try await testGracefulShutdown { shutdown in
            try await withThrowingTaskGroup(of: ConsoleEnd?.self) { group in
                group.addTask { try await console.run { continuation.yield($0) } }
                group.addTask {
                    for await running in stream {
                        let client = ConsoleClient(port: running.port ?? 0, host: running.host)
                        try await body(client, running.linkPath)
                        return nil
                    }
                    return nil
                }
                defer {
                    continuation.finish()
                    shutdown.triggerGracefulShutdown()
                }
                let end = try await group.next() ?? nil
                // The body does not go on without a console.
                if end != nil { group.cancelAll() }
                return end
            }
        }
    }

    private var configuration: ConsoleConfiguration {
        let clock = self.clock
        let folder = self.folder.path
        var configuration = ConsoleConfiguration(
            folder: folder,
            version: "0.0.0",
            now: { clock.milliseconds },
            serverState: { .notServing },
            assetPath: { "\(folder)/\($0.number.rawValue)" }
        )
        configuration.changesInterval = .milliseconds(20)
        configuration.save = { await self.save($0) }
        self.adjustment.withLock { $0 }(&configuration)
        return configuration
    }

    /// Saves as the server would, which tests of the command have.
    private func save(_ edit: RecordEdit) async -> RecordEditOutcome {
        do {
            let outcomes = try await self.write(
                .modifyRecords(ModifyRecords(scope: edit.scope, saves: [edit.save])),
                by: self.requester(edit.scope, of: edit.user)
            )
            guard case .failed(let error)? = outcomes.first else { return .saved }
            if case .changeTagStale = error { return .conflict }
            return .refused(error.row.text)
        } catch {
            return .refused("\(error)")
        }
    }

    // MARK: Data

    func requester(_ scope: DatabaseScope = .private, of user: String? = "alice") throws -> Requester {
        let signIn = try self.store.directory.account(
            named: user,
            ofContainer: Self.container,
            environment: .development
        )
        return Requester(
            database: scope == .public ? signIn.publicDatabase : signIn.privateDatabase!,
            scope: scope,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
    }

    @discardableResult
    func write(
        _ operation: WriteRequest.Operation,
        by requester: Requester
    ) async throws -> [WriteOutcome] {
        let request = WriteRequest(
            requester: requester,
            requestID: self.generator.withLock {
                RequestID(milliseconds: self.clock.milliseconds, using: &$0)
            },
            operation: operation,
            bytes: 100,
            deadlineMilliseconds: .max
        )
        return try await withCheckedContinuation { continuation in
            self.store.write(request) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Saves records of a type in a zone.
    @discardableResult
    func save(
        _ records: [(name: String, fields: [Field])],
        type: String = "Note",
        zone: String = ZoneID.defaultZoneName,
        scope: DatabaseScope = .private,
        parent: String? = nil
    ) async throws -> [WriteOutcome] {
        let id = ZoneID(zoneName: zone)
        let saves = records.map { record in
            var save = RecordSave(
                id: RecordID(zone: id, recordName: record.name),
                recordType: type,
                changes: RecordBody(record.fields)
            )
            if let parent { save.parent = .set(recordName: parent) }
            return save
        }
        var operation = ModifyRecords(scope: scope, saves: saves)
        operation.policy = .allKeys
        return try await self.write(.modifyRecords(operation), by: self.requester(scope))
    }

    func makeZones(_ names: [String]) async throws {
        let operation = ModifyZones(scope: .private, saves: names.map { ZoneID(zoneName: $0) })
        try await self.write(.modifyZones(operation), by: self.requester())
    }

    func shutdown() async {
        await self.reader.shutdown()
        await self.store.shutdown()
    }
}
