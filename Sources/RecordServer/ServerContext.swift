import AccessTokens
import AssetStore
import Logging
import NIOPosix
import RecordModel
import RecordStore
import Synchronization
import WireProtocol

/// What all connections of a server share.
///
/// Everything in it is safe to use from every event loop.
final class ServerContext: Sendable {
    let configuration: ServerConfiguration
    let engine: any StorageEngine
    let files: AssetStore
    /// For bytes of uploads and downloads.
    let assetBuffers = AssetBuffers()
    let uploadTurns: UploadTurns
    let assetSweep: AssetSweep
    let authenticator: Authenticator
    /// What the cursors of queries and the tokens of feeds are sealed with.
    let sealKey: SealKey
    /// For sign-in, which blocks.
    let signInThreads: NIOThreadPool
    let credentialWatch: CredentialWatch
    let refusals = Mutex(RefusalPace())
    let guesses: Mutex<GuessPace>
    private let hiddenFields = Mutex(HiddenFieldNotices())
    let logger: Logger
    let metrics: ServerMetrics
    let router: NotificationRouter
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int64
    let faults: FaultCounter?
    let connections: ConnectionCount
    /// Longest deadline of a request, in milliseconds: asked for with every one.
    let deadlineMillisecondsMax: Int64
    /// Connections that have downloads.
    private let downloadingConnections = Atomic<Int>(0)
    private let lastConnectionNumber = Atomic<UInt64>(0)
    /// Bytes of answers that all connections hold for clients that have not taken them.
    private let heldBytes = Atomic<Int>(0)
    private let mostHeldBytes = Atomic<Int>(0)

    init(
        configuration: ServerConfiguration,
        engine: any StorageEngine,
        files: AssetStore,
        sealKey: SealKey,
        identities: IdentityTokens?,
        logger: Logger,
        clock: @escaping @Sendable () -> Int64,
        faults: FaultInjector?
    ) {
        self.configuration = configuration
        self.metrics = ServerMetrics()
        self.engine = engine
        self.files = files
        self.uploadTurns = UploadTurns(uploadsMax: configuration.assets.uploadsMax)
        self.assetSweep = AssetSweep(
            registry: engine.assets,
            files: files,
            metrics: self.metrics,
            logger: logger
        )
        self.authenticator = Authenticator(
            directory: engine.directory,
            identities: identities,
            clock: clock
        )
        self.credentialWatch = CredentialWatch(directory: engine.directory)
        self.guesses = Mutex(
            GuessPace(
                missesPerMinuteMax: configuration.bounds.shareMissesPerMinuteMax,
                askingMax: configuration.bounds.requestItemsMax
            )
        )
        self.sealKey = sealKey
        self.router = NotificationRouter(store: engine.subscriptions, metrics: self.metrics)
        self.signInThreads = NIOThreadPool(numberOfThreads: 2)
        self.logger = logger
        self.deadlineMillisecondsMax = configuration.timeouts.deadlineMax.wholeMilliseconds
        self.clock = clock
        self.faults = faults.map { FaultCounter($0) }
        self.connections = ConnectionCount(connectionsMax: configuration.listen.connectionsMax)
    }

    func takeConnectionNumber() -> UInt64 {
        self.lastConnectionNumber.add(1, ordering: .relaxed).newValue
    }

    private static let uploadWindowBytesMin = 256 * 1_024
    private static let downloadAheadBytesMin = 16 * 1_024

    /// The window of an upload, as many as there are now; twice as large while nothing else travels on its connection.
    func uploadWindowBytes(isAlone: Bool) -> UInt32 {
        let assets = self.configuration.assets
        let share = assets.uploadWindowsBytes / max(self.uploadTurns.counts.receiving, 1)
        let bytesMax = isAlone ? assets.uploadWindowBytes * 2 : assets.uploadWindowBytes
        return min(bytesMax, UInt32(clamping: max(share, Self.uploadWindowBytesMin)))
    }

    /// A connection has its first download, or has lost its last.
    func downloads(_ isBeginning: Bool) {
        self.downloadingConnections.add(isBeginning ? 1 : -1, ordering: .relaxed)
    }

    /// What a connection may have of downloads between disk and socket, as many as have any now.
    var downloadAheadBytes: Int {
        let assets = self.configuration.assets
        let share = assets.downloadsAheadBytes / max(self.downloadingConnections.load(ordering: .relaxed), 1)
        return min(assets.downloadAheadBytes, max(share, Self.downloadAheadBytesMin))
    }

    /// Whether clients leave so much unread that no request is taken.
    var isHoldingTooMuch: Bool {
        self.heldBytes.load(ordering: .relaxed) >= self.configuration.memory.answersHeldTotalBytesMax
    }

    /// What a query is answered with.
    func outcomes(
        _ answer: QueryAnswer,
        to query: AdmittedQuery,
        in container: String,
        nowMilliseconds: Int64
    ) -> Outcomes {
        self.tell(answer.hiddenFields, of: query, in: container)
        return Outcomes(answer, to: query, key: self.sealKey, nowMilliseconds: nowMilliseconds)
    }

    /// Tells an operator, once, of fields that a query may have meant and can't name.
    private func tell(_ hiddenFields: [String], of query: AdmittedQuery, in container: String) {
        let (recordType, environment) = (query.read.query.recordType, query.requester.environment)
        for field in hiddenFields {
            let isNews = self.hiddenFields.withLock { $0.tells(field, of: recordType, in: environment) }
            guard isNews else { continue }
            self.logger.notice(
                "a query named a field of the system, not the record type's own of the same name",
                metadata: [
                    LogKeys.container: "\(container)", LogKeys.recordType: "\(recordType)",
                    LogKeys.field: "\(field)",
                ]
            )
        }
    }

    /// The most that was held at any time.
    var heldBytesMost: Int { self.mostHeldBytes.load(ordering: .relaxed) }

    func held(_ bytes: Int) {
        let now = self.heldBytes.add(bytes, ordering: .relaxed).newValue
        if now > self.heldBytesMost { self.mostHeldBytes.max(now, ordering: .relaxed) }
    }
}
