import AccessTokens
import Foundation
import Logging
import RecordServer
import RecordStore

/// What the server runs with: the defaults, changed by the file, the environment and the flags, in this order.
struct Settings: Sendable {
    enum LogFormat: String, CaseIterable, Sendable {
        case text
        case json
    }

    static let defaults = Settings()

    var listen = ListenAddress.defaults
    /// `nil`: certificates of our own making, in the data folder.
    var tlsCertificatePath: String?
    var tlsKeyPath: String?
    /// Names and addresses, beside the one listened on, that clients connect to.
    var tlsHosts: [String] = []
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.text
    /// Between two lines of metrics in the log; 0: none.
    var metricsIntervalSeconds = 60
    /// `nil` if metrics are only logged.
    var metricsFilePath: String?
    /// Between two writings of the file.
    var metricsFileIntervalSeconds = 10
    /// How long a stopping server waits for what is in flight.
    var drainSeconds = 30
    var server = ServerConfiguration.defaults
    var writer = Writer()
    /// Threads that read and write files of assets.
    var assetThreads = 4
    /// Room on the disk that uploads leave.
    var diskReserveBytes = 64 * 1_024 * 1_024
    var identity = Identity()
    /// Where values that were given stand, by the names of their settings.
    var origins: [String: SettingOrigin] = [:]
    /// What the environment has that looks like a setting.
    var unknownVariables: [SettingVariable.Unknown] = []

    /// What may wait for the engine's threads.
    struct Writer: Hashable, Sendable {
        var requestsMax = 4_096
        var bytesMax = 64 * 1_024 * 1_024
        /// What waits for the writer, in the time that it takes to execute.
        var waitMilliseconds = 10
        /// The same for the threads that read.
        var readerWaitMilliseconds = 25
        /// Threads for queries that are not short, and as many for other such reads: pages of changes, hundreds of records.
        var readThreads = max(2, ProcessInfo.processInfo.activeProcessorCount)
    }

    /// Whose tokens are trusted beside those of our own.
    struct Identity: Hashable, Sendable {
        /// `nil`: nobody's.
        var keysPath: String?
        var issuer: String?
        /// `nil`: the container's identifier.
        var audience: String?
        var leewaySeconds = 60
        var createsUsers = false
        /// Of keys that the file does not have any more.
        var keyRetention = KeyRetention.whileUnreadable
    }
}
