import AssetStore
public import CloudKit
import Foundation
import Logging
import RecordServer
import RecordStore
import SQLiteEngine
import ServerCertificates
package import StorageContract
package import Synchronization

/// A real server in this process, for tests.
///
/// The `README.md` beside this file shows how to write tests with it. It listens on a free port of
/// the loopback address, keeps its data in a temporary folder, and makes a certificate at its
/// start. Containers and users are created when a test first asks for them. A server starts within
/// milliseconds, so every test can have its own.
///
/// ```swift
/// try await TestServer.run { server in
///     server.faults.add(.save(.third), .zoneBusy(retryAfter: 2))
///     let container = try await server.container(for: "alice")
///     // ... the code under test
/// }
/// ```
public final class TestServer: Sendable {
    /// The identifier of the default container.
    public static let defaultContainerIdentifier = "iCloud.test"

    /// The faults of the server.
    public let faults = FaultPlan()
    /// The server's clock, which dates records.
    public let clock = TestClock()
    /// `tidemark://localhost:port`; the same after a `restart()`.
    public let url: String
    /// The last thousand lines of the server's log, oldest first, from level debug on, for the
    /// message of a failing test.
    ///
    /// `run` prints them if its body throws.
    public var log: String { self.logLines.text }

    private struct Running {
        var store: Store
        var server: RecordServer
    }

    private let options: Options
    /// The folder of the data.
    package let folder: String
    private let certificates: ServerCertificates
    /// Held for as long as the server lives, so that no other process takes the port during a
    /// restart.
    private let port: ReservedPort
    private let logger: Logger
    private let logLines: TestLog
    private let running: Mutex<Running?>
    let accounts = TestAccounts()

    /// Starts a server, calls the body with it, and stops it in any case.
    ///
    /// - Parameters:
    ///   - options: The settings of the server.
    ///   - body: The test.
    /// - Returns: What the body returns.
    /// - Throws: What `start(_:)` or the body throws.
    public static func run<R>(
        _ options: Options = .defaults,
        _ body: (TestServer) async throws -> R
    ) async throws -> R {
        let server = try await self.start(options)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            FileHandle.standardError.write(Data("The log of the test server:\n\(server.log)".utf8))
            throw error
        }
    }

    /// Starts a server, to be stopped with `stop()`.
    ///
    /// - Parameter options: The settings of the server.
    /// - Returns: A server that accepts connections.
    /// - Throws: If the temporary folder or a port is unavailable.
    public static func start(_ options: Options = .defaults) async throws -> TestServer {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-testing-\(UUID().uuidString)").path
        do {
            let certificates = try ServerCertificates.make(hosts: [])
            return try await TestServer(options, folder: folder, certificates: certificates)
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    private init(_ options: Options, folder: String, certificates: ServerCertificates) async throws {
        let port = try ReservedPort()
        let lines = TestLog()
        let logger = lines.logger(passingTo: options.logger)
        let running = try await Self.launch(
            options,
            folder: folder,
            certificates: certificates,
            port: port.number,
            clock: self.clock,
            faults: self.faults,
            logger: logger
        )
        self.options = options
        self.folder = folder
        self.certificates = certificates
        self.logger = logger
        self.logLines = lines
        self.port = port
        self.url = "tidemark://localhost:\(port.number)"
        self.running = Mutex(running)
    }

    /// Drains and stops the server, ends the connections of its containers, and removes its data.
    public func stop() async {
        await self.shutdown(grace: .seconds(5))
        await self.accounts.closeConnections()
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    /// Stops the server and starts it again with the same data and port.
    ///
    /// Containers reconnect by themselves.
    ///
    /// - Parameter grace: How long requests in flight may take before their connections break.
    /// - Throws: If the data or the port are no longer available.
    public func restart(grace: Duration = .seconds(5)) async throws {
        await self.shutdown(grace: grace)
        let running = try await Self.launch(
            self.options,
            folder: self.folder,
            certificates: self.certificates,
            port: self.port.number,
            clock: self.clock,
            faults: self.faults,
            logger: self.logger
        )
        self.running.withLock { $0 = running }
    }

    /// Returns a container with the credential of a user.
    ///
    /// Container and user are created if they are new.
    ///
    /// - Parameters:
    ///   - user: Any name; the same name is the same user in each environment of the container.
    ///   - identifier: The identifier of the container.
    ///   - environment: Which of the container's two sets of data is meant.
    ///   - schema: The schema that the code under test was built for, or `nil`.
    /// - Returns: A container that connects to this server.
    /// - Throws: If the identifier or the name is invalid.
    public func container(
        for user: String,
        identifier: String = TestServer.defaultContainerIdentifier,
        environment: CKServerConnection.Environment = .development,
        schema: String? = nil
    ) async throws -> CKContainer {
        let connection = try await self.connection(
            for: user,
            identifier: identifier,
            environment: environment,
            schema: schema
        )
        return CKContainer(identifier: identifier, connection: connection)
    }

    /// Returns a container without a credential.
    ///
    /// The container is created if it is new.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the container.
    ///   - environment: Which of the container's two sets of data is meant.
    /// - Returns: A container that connects to this server.
    /// - Throws: If the identifier is invalid.
    public func anonymousContainer(
        identifier: String = TestServer.defaultContainerIdentifier,
        environment: CKServerConnection.Environment = .development
    ) async throws -> CKContainer {
        let connection = try await self.connection(for: nil, identifier: identifier, environment: environment)
        return CKContainer(identifier: identifier, connection: connection)
    }

    /// Returns the connection of a user, for `CKServerConnection.default` or the environment of a
    /// child process.
    ///
    /// - Parameters:
    ///   - user: Any name; `nil` for a client without a user.
    ///   - identifier: The identifier of the container.
    ///   - environment: Which of the container's two sets of data is meant.
    ///   - schema: The schema that the code under test was built for, or `nil`.
    /// - Returns: The connection.
    /// - Throws: If the identifier or the name is invalid.
    public func connection(
        for user: String?,
        identifier: String = TestServer.defaultContainerIdentifier,
        environment: CKServerConnection.Environment = .development,
        schema: String? = nil
    ) async throws -> CKServerConnection {
        let token = try await self.accounts.token(for: user, container: identifier, in: self.directory())
        var connection = CKServerConnection(
            url: self.url,
            token: token,
            certificateAuthority: .pem(self.certificates.authorityPEM),
            environment: environment,
            schema: schema
        )
        connection.cacheFolder = self.folder + "/cache"
        connection.ledgerFolder = self.folder + "/ledgers"
        self.accounts.remember(connection)
        return connection
    }

    /// Removes the assets that no record has named for the grace time, a day of the server's clock.
    ///
    /// The server does so by itself, once a minute.
    ///
    /// - Throws: If the server was stopped.
    package func removeUnnamedAssets() async throws {
        guard let server = self.running.withLock({ $0?.server }) else { throw TestServerError.stopped }
        await server.sweepAssets()
    }

    /// How many connections are open.
    package var openConnections: Int {
        let metrics = self.running.withLock { $0?.server }?.metrics ?? []
        for metric in metrics where metric.name == .connectionsOpen {
            if case .number(let count)? = metric.samples.first?.value { return Int(count) }
        }
        return 0
    }

    /// Ends the connections of revoked users.
    func endRevokedConnections() async {
        await self.running.withLock { $0?.server }?.endRevokedConnections()
    }

    private func directory() throws -> Directory { try self.store().directory }

    func store() throws -> Store {
        guard let running = self.running.withLock({ $0 }) else { throw TestServerError.stopped }
        return running.store
    }

    private func shutdown(grace: Duration) async {
        let running = self.running.withLock { $0.take() }
        guard let running else { return }
        await running.server.shutdown(grace: grace)
        await running.store.shutdown()
    }

    /// Makes the engine of every server in this process, in place of SQLite's: for tests of another engine.
    ///
    /// Takes the folder of the data and the clock.
    ///
    /// A server with a limited disk has SQLite's engine.
    package typealias EngineMaker =
        @Sendable (_ folder: String, _ clock: @escaping @Sendable () -> Int64) throws -> any StorageEngine
        & LoadGate
    package static let engineMaker = Mutex<EngineMaker?>(nil)

    private static func engine(
        _ options: Options,
        folder: String,
        clock: TestClock
    ) throws -> any StorageEngine & LoadGate {
        let maker = self.engineMaker.withLock { $0 }
        if let maker, options.diskBytesMax == nil { return try maker(folder) { clock.milliseconds } }
        return try SQLiteEngine(
            configuration: options.engine(folder: folder),
            clock: { clock.milliseconds },
            report: { _ in }
        )
    }

    private static func launch(
        _ options: Options,
        folder: String,
        certificates: ServerCertificates,
        port: Int,
        clock: TestClock,
        faults: FaultPlan,
        logger: Logger
    ) async throws -> Running {
        let store = Store(
            try Self.engine(options, folder: folder, clock: clock),
            configuration: options.rules(clock: clock)
        )
        let server = try RecordServer(
            configuration: options.server(port: port),
            store: store,
            assetBytes: AssetStore(options.files(folder: folder)),
            tls: TLSMaterial(
                certificateChain: certificates.chainPEM,
                privateKey: certificates.keyPEM
            ),
            faults: FaultLog(logger),
            clock: { clock.milliseconds },
            gate: FaultInjection { faults.fault(for: $0) }
        )
        do {
            _ = try await server.start()
            return Running(store: store, server: server)
        } catch {
            await store.shutdown()
            throw error
        }
    }
}

/// The error of a call that a test server can't fulfil.
public enum TestServerError: Error, Hashable, Sendable {
    /// `stop()` was called.
    case stopped
}
