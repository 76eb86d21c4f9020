import AccessTokens
import Foundation
import Logging
import MonitoringEndpoint
import RecordServer
import RecordStore

/// The server's settings: the defaults, changed by the file, the environment and the flags, in this
/// order.
struct Settings: Sendable {
    enum LogFormat: String, CaseIterable, Sendable {
        case text
        case json
    }

    /// The kind of store.
    enum Engine: String, CaseIterable, Sendable {
        /// One file in the data folder.
        case sqlite
        /// A database of a PostgreSQL server.
        case postgres
    }

    static let defaults = Settings()

    /// `nil` for the engine of the data folder; a new one has SQLite, unless a database is named.
    var engine: Engine?
    /// `nil` for the database of the data folder.
    var databaseURL: DatabaseURL?
    var databaseSync = DatabaseSync.required
    var sharedAssets = SharedAssets.required
    var listen = ListenAddress.defaults
    /// `nil` if the certificate is made by the server, in the data folder.
    var tlsCertificatePath: String?
    var tlsKeyPath: String?
    /// Names and addresses that clients connect to, besides the one listened on.
    var tlsHosts: [String] = []
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.text
    /// Absolute; `nil` if the log goes to standard error alone.
    var logFilePath: String?
    /// Maximum size of the file and its older half together.
    var logFileBytesMax = 16 * 1_024 * 1_024
    /// Time between two lines of metrics in the log; 0 for none.
    var metricsIntervalSeconds = 60
    /// `nil` if metrics are only logged.
    var metricsFilePath: String?
    /// Time between two updates of the file.
    var metricsFileIntervalSeconds = 10
    /// The address for metrics and the server's health over HTTP; `nil` if they are not served.
    var metricsListen: EndpointAddress?
    /// The address for CloudKit Web Services; `nil` if they are not served.
    var webListen: WebListen?
    /// The maximum time that a shutdown waits for requests in flight.
    var drainSeconds = 30
    var server = ServerConfiguration.defaults
    var writer = Writer()
    /// Threads that read and write asset files.
    var assetThreads = 4
    /// Bytes that uploads must leave free on the disk.
    var diskReserveBytes = 64 * 1_024 * 1_024
    var identity = Identity()
    /// Origins of values that differ from the defaults, by the names of their settings.
    var origins: [String: SettingOrigin] = [:]
    /// Environment variables that look like settings.
    var unknownVariables: [SettingVariable.Unknown] = []

    /// Whether commits in PostgreSQL wait for a synchronous standby.
    enum DatabaseSync: String, Hashable, Sendable {
        case required
        case off
    }

    /// Whether servers of one database need one folder of assets.
    enum SharedAssets: String, Hashable, Sendable {
        case required
        case off
    }

    /// Bounds on what may wait for the engine's threads.
    struct Writer: Hashable, Sendable {
        var requestsMax = 4_096
        var bytesMax = 64 * 1_024 * 1_024
        /// Bound on work waiting for the writer, as time to execute it to execute.
        var waitMilliseconds = 10
        /// The same for the threads that read.
        var readerWaitMilliseconds = 25
        /// Threads for queries that are not short, and as many for other long reads: pages of
        /// changes, hundreds of records.
        var readThreads = max(2, ProcessInfo.processInfo.activeProcessorCount)
    }

    /// The identity provider that issues trusted tokens beside the server's own.
    struct Identity: Hashable, Sendable {
        /// `nil` if no provider is trusted.
        var keysPath: String?
        var issuer: String?
        /// `nil` for the container's identifier.
        var audience: String?
        var leewaySeconds = 60
        var createsUsers = false
        /// For keys that the file no longer has.
        var keyRetention = KeyRetention.whileUnreadable
    }
}
