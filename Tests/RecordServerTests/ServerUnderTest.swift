import AccessTokens
import AssetStore
import CloudKitTesting
import Crypto
import Logging
import RecordModel
import RecordServer
import RecordStore
import SQLiteEngine
import ServerCertificates
import Synchronization
import TestSupport
import WireProtocol

/// A server on a port of its own, with the real engine in a folder of its own, one container and one user.
struct ServerUnderTest {
    static let container = "iCloud.test"
    static let startMilliseconds: Int64 = 1_700_000_000_000
    static let token = "a token"
    static let tokenHash = Array(SHA256.hash(data: Array(token.utf8)))
    static let userRecordName = "_0123456789abcdef0123456789abcdef"
    static let zone = ZoneID(zoneName: "Zone")

    /// One certificate serves all tests: making it is slow, and nothing depends on it.
    private static let certificates = Result { try ServerCertificates.make(hosts: []) }

    let server: RecordServer
    let store: Store
    let port: Int
    let clock: ManualClock
    /// Where the store is.
    let folder: String
    /// Where files of assets are.
    let assetsPath: String
    let log: RecordingLog

    /// Runs a test with a server, and stops it whatever happens.
    static func run(
        configure: (inout ServerConfiguration) -> Void = { _ in },
        configureEngine: (inout SQLiteEngineConfiguration) -> Void = { _ in },
        clock: ManualClock = ManualClock(milliseconds: Self.startMilliseconds),
        faultClock: ManualClock = ManualClock(milliseconds: 0),
        faults: FaultInjector? = nil,
        fileFaults: FileFaults? = nil,
        identities: IdentityTokens? = nil,
        _ body: (ServerUnderTest) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(in: directory.path, clock: clock, configure: configureEngine)
        try store.directory.createContainer(Self.container)
        try store.directory.addUser(
            named: "user",
            userRecordName: Self.userRecordName,
            tokenHash: Self.tokenHash,
            toContainer: Self.container
        )
        var configuration = ServerConfiguration.defaults
        configuration.listen.port = 0
        configuration.threads = 2
        // On a busy machine nothing ends because it took long: a test of a timeout sets its own.
        let hour = Duration.seconds(3_600)
        configuration.timeouts.handshake = hour
        configuration.timeouts.idle = hour
        configuration.timeouts.frame = hour
        configuration.timeouts.slowReader = hour
        configuration.assets.timeout = hour
        configure(&configuration)
        let files = Self.files(in: directory, faults: fileFaults)
        let log = RecordingLog()
        let certificates = try Self.certificates.get()
        let server = try RecordServer(
            configuration: configuration,
            store: store,
            assetBytes: AssetStore(files),
            tls: TLSMaterial(
                certificateChain: certificates.chainPEM,
                privateKey: certificates.keyPEM
            ),
            identities: identities,
            faults: FaultLog(log.logger, milliseconds: { faultClock.milliseconds }),
            clock: { clock.milliseconds },
            gate: faults.map { FaultInjection($0) }
        )
        let address = try await server.start()
        let running = ServerUnderTest(
            server: server,
            store: store,
            port: address.port,
            clock: clock,
            folder: directory.path,
            assetsPath: files.directory,
            log: log
        )
        let result: Result<Void, any Error>
        do {
            try await body(running)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await server.shutdown(grace: .zero)
        await store.shutdown()
        _ = directory
        try result.get()
    }

    /// Opens a store in a folder, perhaps beside another process.
    static func store(
        in folder: String,
        clock: ManualClock,
        configure: (inout SQLiteEngineConfiguration) -> Void = { _ in }
    ) throws -> Store {
        var configuration = SQLiteEngineConfiguration(directory: folder, housekeeping: Housekeeping.maker())
        configuration.durability = .relaxed
        configure(&configuration)
        return Store(
            try SQLiteEngine(
                configuration: configuration,
                clock: { clock.milliseconds },
                report: { _ in }
            ),
            configuration: StoreConfiguration { clock.milliseconds }
        )
    }

    private static func files(
        in directory: TemporaryDirectory,
        faults: FileFaults?
    ) -> AssetStoreConfiguration {
        var files = AssetStoreConfiguration(directory: directory.path + "/assets")
        files.threads = 2
        files.faults = faults
        return files
    }

    /// TLS is up, nothing was said.
    func connect(applicationProtocols: [String] = [ProtocolVersion.alpn]) async throws -> TestPeer {
        try await TestPeer.connect(
            port: self.port,
            authorityPEM: try Self.certificates.get().authorityPEM,
            applicationProtocols: applicationProtocols
        )
    }

    /// Signed in and welcomed.
    func signIn(token: String = Self.token, windows: Windows = .defaults) async throws -> TestPeer {
        let peer = try await self.connect()
        try await peer.send(.hello(token: token, windows: windows))
        guard let frame = await peer.next(), frame.kind == .welcome else { throw UnexpectedFrame(frame: nil) }
        return peer
    }

    /// Makes the zone, and records named `0`, `1`, … with a field of so many bytes each.
    func fill(records: Int, bytes: Int) async throws {
        let peer = try await self.signIn()
        try await peer.send(.modifyZones(ModifyZones(scope: .private, saves: [Self.zone])), on: 1)
        _ = try await peer.answer(on: 1)
        for index in 0..<records {
            let stream = UInt32(2 * index + 3)
            try await peer.send(.save(["\(index)"], bytes: bytes), on: stream)
            let answer = try await peer.answer(on: stream)
            guard case .recordSaved? = answer.items.first?.outcome else { throw UnexpectedFrame(frame: nil) }
        }
        await peer.close()
    }
}

extension Operation {
    static func save(_ names: [String], bytes: Int = 10, zone: ZoneID = ServerUnderTest.zone) -> Operation {
        let body = RecordBody([Field(name: "value", value: .bytes([UInt8](repeating: 7, count: bytes)))])
        return .modifyRecords(
            ModifyRecords(
                scope: .private,
                saves: names.map {
                    RecordSave(id: RecordID(zone: zone, recordName: $0), recordType: "Note", changes: body)
                }
            )
        )
    }

    static func fetch(_ names: [String], scope: DatabaseScope = .private) -> Operation {
        .fetchRecords(
            FetchRecords(
                scope: scope,
                ids: names.map { RecordID(zone: ServerUnderTest.zone, recordName: $0) }
            )
        )
    }
}

/// Keeps the lines that a server logs.
final class RecordingLog: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: [String: String]
    }

    private let recorded = Mutex<[Line]>([])

    var lines: [Line] { self.recorded.withLock { $0 } }

    /// Lines about ends of connections that an operator sees.
    var complaints: [Line] {
        self.lines.filter { $0.level >= .info && !["listening", "draining", "stopped"].contains($0.message) }
    }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
            let line = Line(level: event.level, message: "\(event.message)", metadata: metadata)
            self.log.recorded.withLock { $0.append(line) }
        }
    }
}
