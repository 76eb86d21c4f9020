import Foundation
import RecordServer

/// The limit of open files and connections of the server's process.
enum DescriptorLimit {
    /// Descriptors without clients: output, listening sockets, libraries, the metrics file
    /// and the connections of `metrics_listen`.
    private static let ownCount = 64
    private static let descriptorsOfUpload = 3
    private static let descriptorsOfEventLoop = 3
    /// Descriptors per connection to the store: its file, its log, and what a sort needs.
    private static let descriptorsOfConnection = 4
    /// Connections of the writer, of short reads, and of checkpoints.
    private static let otherConnections = 4

    /// Raises the limit as far as this process may.
    ///
    /// Most shells start with 1,024, for old programs that cannot handle more.
    ///
    /// - Returns: The limit in force.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        let isRaised = limit.rlim_cur < limit.rlim_max && setrlimit(resource, &raised) == 0
        return Int(clamping: isRaised ? raised.rlim_cur : limit.rlim_cur)
    }

    /// The limit that the settings require, with the maximum of connections and uploads.
    static func needed(by settings: Settings) -> Int {
        let threads = settings.server.threads ?? ProcessInfo.processInfo.activeProcessorCount
        return settings.server.listen.connectionsMax
            + settings.server.assets.uploadsMax * self.descriptorsOfUpload
            + (2 * settings.writer.readThreads + self.otherConnections) * self.descriptorsOfConnection
            + settings.assetThreads + threads * self.descriptorsOfEventLoop + self.ownCount
    }
}
