import Foundation
import RecordServer

/// How many files and connections the server's process may have open.
enum DescriptorLimit {
    /// What is there without clients: output, sockets that listen, libraries, the metrics file.
    private static let ownCount = 64
    private static let descriptorsOfUpload = 3
    private static let descriptorsOfEventLoop = 3
    /// Of one to the store: its file, its log, and what a sort needs.
    private static let descriptorsOfConnection = 4
    /// The writer's, the one for short reads, and those that copy the log.
    private static let otherConnections = 4

    /// Raises the limit as far as this process may: most shells begin with 1,024, for programs of old that can't have more.
    ///
    /// - Returns: The limit that is in force.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        let isRaised = limit.rlim_cur < limit.rlim_max && setrlimit(resource, &raised) == 0
        return Int(clamping: isRaised ? raised.rlim_cur : limit.rlim_cur)
    }

    /// What a server needs when it has as many connections and uploads as its settings allow.
    static func needed(by settings: Settings) -> Int {
        let threads = settings.server.threads ?? ProcessInfo.processInfo.activeProcessorCount
        return settings.server.listen.connectionsMax
            + settings.server.assets.uploadsMax * self.descriptorsOfUpload
            + (2 * settings.writer.readThreads + self.otherConnections) * self.descriptorsOfConnection
            + settings.assetThreads + threads * self.descriptorsOfEventLoop + self.ownCount
    }
}
