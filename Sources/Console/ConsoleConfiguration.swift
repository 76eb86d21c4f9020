package import RecordStore
package import StorageContract

/// How a console runs, and the facts about the store's surroundings that it gets.
package struct ConsoleConfiguration: Sendable {
    /// The address of the console.
    package enum Address: Hashable, Sendable {
        /// A port of 127.0.0.1; 0 for any that is free.
        case loopback(port: Int)
        /// A Unix socket, which its owner alone can open.
        case socket(path: String)
    }

    /// Facts about the server of the data folder.
    package enum ServerState: Hashable, Sendable {
        case serving(address: String)
        case notServing
    }

    package var address = Address.loopback(port: 0)
    /// The data folder, to be shown.
    package var folder: String
    package var version: String
    /// Milliseconds since 1970.
    package var now: @Sendable () -> Int64
    package var serverState: @Sendable () -> ServerState
    /// The path of the file of a complete asset.
    package var assetPath: @Sendable (StoredAsset) -> String
    /// Saves a record through the server, as a client; `nil` if the console only reads.
    package var save: (@Sendable (RecordEdit) async -> RecordEditOutcome)?
    /// Reads the figures that a server has kept; it may block.
    package var telemetry: @Sendable (Telemetry.Span) -> TelemetryOutcome = { _ in .none }
    /// Reads the quotas of the server that runs, or ran last; `nil` if they are unknown.
    package var quotas: @Sendable () -> StorageQuotas? = { nil }
    /// Finds the location of the server's log.
    package var log: @Sendable () -> LogDestination = { .unknown }
    /// Backups of the folder; `nil` if the console shows none.
    package var backups: BackupDesk?
    /// Makes any other change, as the command line does; `nil` if the console only reads.
    package var change: (@Sendable (OperatorChange) async -> OperatorChangeOutcome)?
    /// Writes down what pages change; `nil` if that is not wanted.
    package var audit: ConsoleAudit?
    /// Brings the records of a file into a database; `nil` if the console only reads.
    package var importRecords: (@Sendable (RecordImport) async -> RecordImportOutcome)?
    /// The interval at which a page that follows changes polls for them.
    package var changesInterval = Duration.milliseconds(500)

    package init(
        folder: String,
        version: String,
        now: @escaping @Sendable () -> Int64,
        serverState: @escaping @Sendable () -> ServerState,
        assetPath: @escaping @Sendable (StoredAsset) -> String
    ) {
        self.folder = folder
        self.version = version
        self.now = now
        self.serverState = serverState
        self.assetPath = assetPath
    }
}

/// Why a console can't run.
package enum ConsoleFailure: Error, Hashable, Sendable {
    /// Another process listens on the port.
    case addressInUse
    /// The system refuses the address, with its error's number.
    case refused(errno: Int32)
    /// There is a file at the path of the socket that is none.
    case notASocket
}

/// Why a console ended.
package enum ConsoleEnd: Hashable, Sendable {
    /// A signal asked for it.
    case stopped
    /// Too many requests came with a wrong secret of the link.
    case guessed
}
