public import CloudKit
public import GRDB
private import Synchronization

/// A SQLite file with a table for each record type, which keeps itself in step with a private
/// database.
///
/// ```swift
/// let mirror = try await Mirror(
///     at: "orders.sqlite",
///     of: container,
///     .init(zones: ["Orders"], tables: [orders])
/// )
/// let open = try await mirror.read { database in
///     try Row.fetchAll(database, sql: #"SELECT * FROM "Order" WHERE total > 10"#)
/// }
/// ```
///
/// Any program may read and write the file's tables, also while no process has the mirror open. One
/// process at a time keeps it in step.
///
/// - Durability: A change that is written here is on disk, and is sent until the server has it,
///   refuses it, or overrules it.
/// - Lifetime: The work ends when the mirror is released or closed.
public final class Mirror: Sendable {
    /// The zones and tables of a mirror, and its settings.
    public struct Configuration: Sendable {
        /// The names of the zones; those that the server does not have are created.
        public var zones: [String]
        /// The record types that are tables.
        public var tables: [MirrorTable]
        /// How conflicts are decided.
        public var conflicts: MirrorConflictPolicy

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - zones: The names of the zones. A file keeps the zones that it was opened with before.
        ///   - tables: The record types. A file keeps the tables that it was opened with before.
        ///   - conflicts: How conflicts are decided.
        public init(
            zones: [String] = [],
            tables: [MirrorTable] = [],
            conflicts: MirrorConflictPolicy = .fieldwise
        ) {
            self.zones = zones
            self.tables = tables
            self.conflicts = conflicts
        }
    }

    private let sync: MirrorSync
    private let work: Mutex<Task<Void, Never>?>

    /// Opens a file, or makes one, and begins to keep it in step.
    ///
    /// It does not wait for the server.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - container: The container with the private database.
    ///   - configuration: The zones and tables. It may be empty if the file was opened before.
    /// - Throws: `MirrorError`, with the file as it was; `CKError.badContainer` if the container
    ///   has no connection.
    public init(
        at path: String,
        of container: CKContainer,
        _ configuration: Configuration = .init()
    ) async throws {
        let file = try MirrorFile(
            at: path,
            home: try container.home(),
            zones: configuration.zones,
            tables: configuration.tables
        )
        let sync = MirrorSync(file, policy: configuration.conflicts)
        let own = try container.installation(named: "mirror \(file.installation)")
        let settings = CKOperation.Configuration()
        // No column has an asset.
        settings.downloadsAssets = false
        try sync.start(own.privateCloudDatabase.configuredWith(configuration: settings) { $0 })
        self.sync = sync
        self.work = Mutex(nil)
        self.work.withLock { $0 = Task { await LocalChanges(sync: sync).run() } }
    }

    deinit {
        self.work.withLock { $0 }?.cancel()
        self.sync.close()
    }

    /// Ends the work; another process may keep the file in step then.
    ///
    /// Changes that were not sent are sent when the file is opened again.
    public func close() async {
        let work = self.work.withLock { $0 }
        work?.cancel()
        self.sync.close()
        await work?.value
    }

    // MARK: SQL

    /// The file for reading, for GRDB's observations too.
    public var database: any DatabaseReader { self.sync.file.pool }

    /// Reads the tables in one snapshot.
    ///
    /// - Parameter body: Reads.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or `DatabaseError`.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await self.sync.file.pool.read(body)
    }

    /// Writes tables in one transaction, which is sent as a whole.
    ///
    /// - Parameter body: Writes.
    /// - Returns: The result of the body.
    /// - Throws: The body's error, or `DatabaseError`; nothing is written then.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let value = try await self.sync.file.pool.write { database in
            try database.execute(
                sql: "UPDATE tidemark_state SET transaction_number = transaction_number + 1"
            )
            return try body(database)
        }
        await self.sync.notice()
        return value
    }

    // MARK: State

    /// Returns the state.
    ///
    /// - Throws: `DatabaseError`.
    public func status() async throws -> MirrorStatus {
        let stopped = self.sync.stopped
        return try await self.sync.file.pool.read { try MirrorStatus($0, stopped: stopped) }
    }

    /// Returns the events from now on; a reader that lags behind by 1,000 loses the oldest.
    public func events() -> AsyncStream<MirrorEvent> { self.sync.hub.stream() }

    /// Returns whether the file and the server have the same, apart from parked changes.
    ///
    /// It takes one round trip.
    ///
    /// - Throws: `CKError`; `MirrorError` if the mirror has stopped.
    public func isCurrent() async throws -> Bool {
        let engine = try self.engine()
        guard try await self.status().pending == 0 else { return false }
        return try await engine.isCurrent()
    }

    /// Sends and fetches until the file and the server have the same, apart from parked changes.
    ///
    /// - Parameter timeout: How long to try.
    /// - Returns: `false` if the time has passed.
    /// - Throws: `CKError` that no retry removes; `MirrorError` if the mirror has stopped;
    ///   `CancellationError`.
    public func waitUntilCurrent(timeout: Duration) async throws -> Bool {
        let end = ContinuousClock.now + timeout
        while true {
            await self.sync.notice()
            let rest = ContinuousClock.now.duration(to: end)
            guard rest > .zero else { return false }
            do {
                guard try await self.engine().waitUntilCurrent(timeout: rest) else { return false }
            } catch let error as CKError {
                // The engine ends when the mirror stops.
                if let stopped = self.sync.stopped { throw stopped }
                throw error
            }
            let status = try await self.status()
            if let stopped = status.stopped { throw stopped }
            if status.pending == 0, status.isComplete { return true }
        }
    }

    private func engine() throws -> CKSyncEngine {
        if let stopped = self.sync.stopped { throw stopped }
        guard let engine = self.sync.engine else { throw CancellationError() }
        return engine
    }

    // MARK: Parked changes

    /// Sends all parked changes again.
    ///
    /// - Throws: `DatabaseError`.
    public func retryParked() async throws {
        try await self.sync.file.pool.write { database in
            try database.execute(
                sql: """
                    UPDATE tidemark_pending SET error_code = NULL, error = NULL
                    WHERE error_code IS NOT NULL
                    """
            )
        }
        await self.sync.notice()
    }

    /// Replaces parked changes by what the server has.
    ///
    /// - Returns: How many.
    /// - Throws: `DatabaseError`.
    @discardableResult
    public func discardParked() async throws -> Int {
        let tables = self.sync.file.layout.tables
        return try await self.sync.file.pool.write { database in
            try RowStore.applying(database) { try RowStore(database, tables: tables).discardParked() }
        }
    }
}
