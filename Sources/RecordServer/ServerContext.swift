import AccessTokens
import AssetStorage
import FileIO
import Logging
import NIOCore
import NIOPosix
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import WireProtocol

/// The state that all connections of a server share.
///
/// Safe to use from every event loop.
final class ServerContext: Sendable {
    /// Maximum number of bytes of all clients' schemas that wait for a check.
    private static let schemaCheckBytesMax = 16 * Bounds.schemaBytesMax

    /// Maximum number of bytes of all requests of other protocols that wait for a thread.
    private static let doorBytesMax = 64 * 1_024 * 1_024

    let configuration: ServerConfiguration
    /// The run that qualifies the numbers of connections.
    let run = ServerRun.fresh()
    let store: Store
    let assetBytes: any AssetByteStore
    /// Buffers for bytes of uploads and downloads.
    let assetBuffers = BufferPool()
    let uploadTurns: UploadTurns
    let assetSweep: AssetSweep
    let authenticator: Authenticator
    /// Seals query cursors and feed tokens.
    let sealKey: SealKey
    /// For sign-in, which blocks: each look-up costs 1.
    let signIns: TurnPool
    /// For checks of clients' schemas: each byte costs 1.
    let schemaChecks: TurnPool
    /// For requests of other protocols, which are decoded there: each byte costs 1.
    let doorTurns: TurnPool
    let credentialWatch: CredentialWatch
    let refusals = Mutex(RefusalPace())
    let guesses: Mutex<GuessPace>
    private let hiddenFields = Mutex(HiddenFieldNotices())
    let faults: FaultLog
    let metrics: ServerMetrics
    let router: NotificationRouter
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int64
    let accounts: Accounts
    /// Longest deadline of a request, in milliseconds: cached, as every request needs it.
    let deadlineMillisecondsMax: Int64
    /// Number of connections that have downloads.
    private let downloadingConnections = Atomic<Int>(0)
    private let lastConnectionNumber = Atomic<UInt64>(0)
    /// Bytes reserved for a response until its size is known.
    let responseReservedBytes: Int
    let loops: ServedLoops
    /// The parts that every connection uses.
    let connections: ConnectionShared

    init(
        configuration: ServerConfiguration,
        store: Store,
        assetBytes: any AssetByteStore,
        sealKey: SealKey,
        identities: IdentityTokens?,
        faults: FaultLog,
        clock: @escaping @Sendable () -> Int64,
        gate: (any RequestGate)?
    ) {
        self.configuration = configuration
        self.metrics = ServerMetrics()
        self.store = store
        self.assetBytes = assetBytes
        self.uploadTurns = UploadTurns(uploadsMax: configuration.assets.uploadsMax)
        self.assetSweep = AssetSweep(
            registry: store.assets,
            bytes: assetBytes,
            metrics: self.metrics,
            faults: faults
        )
        self.authenticator = Authenticator(
            directory: store.directory,
            identities: identities,
            clock: clock
        )
        self.credentialWatch = CredentialWatch(directory: store.directory)
        self.guesses = Mutex(
            GuessPace(
                missesPerMinuteMax: configuration.bounds.shareMissesPerMinuteMax,
                askingMax: configuration.bounds.requestItemsMax
            )
        )
        self.sealKey = sealKey
        self.router = NotificationRouter(
            store: store.subscriptions,
            run: self.run,
            metrics: self.metrics
        )
        self.signIns = TurnPool(threadCount: 2, quantum: 4, costMax: configuration.listen.connectionsMax)
        self.schemaChecks = TurnPool(threadCount: 1, quantum: 64 * 1_024, costMax: Self.schemaCheckBytesMax)
        self.doorTurns = TurnPool(threadCount: 2, quantum: 64 * 1_024, costMax: Self.doorBytesMax)
        self.faults = faults
        self.deadlineMillisecondsMax = configuration.timeouts.deadlineMax.wholeMilliseconds
        self.clock = clock
        let memory = configuration.memory
        self.accounts = Accounts(
            connectionsMax: configuration.listen.connectionsMax,
            responseBytesMax: memory.responsesHeldTotalBytesMax,
            unfinishedBytesMax: memory.unfinishedBytesMax
        )
        self.responseReservedBytes = min(1_024 * 1_024, memory.responsesHeldTotalBytesMax / 16)
        self.loops = ServedLoops(accounts: self.accounts)
        self.connections = ConnectionShared(
            bounds: configuration.connectionBounds,
            slowReaderTimeout: TimeAmount(configuration.timeouts.slowReader),
            faults: faults,
            metrics: self.metrics,
            loops: self.loops,
            gate: gate
        )
    }

    /// Finds the account of a connection that was accepted.
    ///
    /// - Returns: The account, and whether the connection only gets a refusal; `nil` if the
    ///   connection is to be closed.
    func accept(from network: String) -> (Account, isRefused: Bool)? {
        let arrival = self.accounts.opened(from: network)
        if case .serve(let account, let open) = arrival {
            self.metrics.connectionOpened(now: open)
            return (account, isRefused: false)
        }
        self.metrics.connectionRefused()
        self.faults.tell("connection refused", level: .info, metadata: [LogKeys.reason: "no room"])
        guard case .refuse(let account) = arrival else { return nil }
        return (account, isRefused: true)
    }

    var logger: Logger { self.faults.logger }

    func takeConnectionNumber() -> UInt64 {
        self.lastConnectionNumber.add(1, ordering: .relaxed).newValue
    }

    private static let uploadWindowBytesMin = 256 * 1_024
    private static let downloadAheadBytesMin = 16 * 1_024

    /// The window of an upload at the current number of uploads; doubled while nothing else travels
    /// on its connection.
    func uploadWindowBytes(isAlone: Bool) -> UInt32 {
        let assets = self.configuration.assets
        let share = assets.uploadWindowsBytes / max(self.uploadTurns.counts.receiving, 1)
        let bytesMax = isAlone ? assets.uploadWindowBytes * 2 : assets.uploadWindowBytes
        return min(bytesMax, UInt32(clamping: max(share, Self.uploadWindowBytesMin)))
    }

    /// A connection has its first download, or has ended its last.
    func downloads(_ isBeginning: Bool) {
        self.downloadingConnections.add(isBeginning ? 1 : -1, ordering: .relaxed)
    }

    /// Bytes that a connection may have between disk and socket, at the current number of
    /// downloading connections.
    var downloadAheadBytes: Int {
        let assets = self.configuration.assets
        let share = assets.downloadsAheadBytes / max(self.downloadingConnections.load(ordering: .relaxed), 1)
        return min(assets.downloadAheadBytes, max(share, Self.downloadAheadBytesMin))
    }

    /// Logs once that a query may have meant fields that queries can't name.
    ///
    /// - Parameters:
    ///   - hiddenFields: The fields.
    ///   - query: The query.
    ///   - labelled: Adds the values by which the log names the request.
    func tell(
        _ hiddenFields: [String],
        of query: AdmittedQuery,
        labelled: (Logger.Metadata) -> Logger.Metadata
    ) {
        let (recordType, environment) = (query.read.query.recordType, query.requester.environment)
        for field in hiddenFields {
            let isNew = self.hiddenFields.withLock { $0.tells(field, of: recordType, in: environment) }
            guard isNew else { continue }
            self.logger.notice(
                "a query named a field of the system, not the record type's own of the same name",
                metadata: labelled([
                    LogKeys.recordType: "\(recordType)", LogKeys.field: "\(field)",
                ])
            )
        }
    }

    /// Logs that a stored record is damaged.
    ///
    /// - Parameters:
    ///   - id: The record.
    ///   - scope: Its database, if the request names one.
    ///   - user: The sender.
    ///   - labelled: Adds the values by which the log names the request.
    func tell(
        ofDamage id: RecordID,
        scope: DatabaseScope?,
        of user: ConnectionUser,
        labelled: (Logger.Metadata) -> Logger.Metadata
    ) {
        let database = scope.map { "\($0)" } ?? ""
        // Each user has a private database.
        let owner = scope == .private ? user.signIn.userRecordName ?? "" : ""
        self.faults.tell(
            "a stored record is damaged",
            about: "\(user.container)/\(user.environment)/\(owner)/\(database)/\(id)",
            metadata: labelled([
                LogKeys.scope: "\(database)",
                LogKeys.zone: "\(id.zone.zoneName)",
                LogKeys.owner: "\(id.zone.ownerName)",
                LogKeys.record: "\(id.recordName)",
                LogKeys.advice: Logger.adviceOnDamage,
            ])
        )
    }
}
