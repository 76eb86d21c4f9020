import Foundation
import Logging
import RecordServer
import ServiceLifecycle

/// What tells operators the metrics of a server: the log, and a file if one is asked for.
struct MetricsReport {
    let settings: Settings
    let folder: DataFolder
    let server: RecordServer
    let logger: Logger
    let startSeconds = Date().timeIntervalSince1970

    /// The services, to be started before the server's: they end after it, and so report all that it did.
    ///
    /// - Throws: `cannotCreate` if the file can't be written.
    func services() async throws(CommandFailure) -> [any Service] {
        var services: [any Service] = []
        if let path = self.settings.metricsFilePath {
            let file = MetricsFile(
                path: path,
                interval: .seconds(self.settings.metricsFileIntervalSeconds),
                read: { await self.everything() },
                logger: self.logger
            )
            try await file.write()
            services.append(file)
        }
        if self.settings.metricsIntervalSeconds > 0 {
            services.append(
                MetricsLog(
                    read: { [server] in server.metrics },
                    interval: .seconds(self.settings.metricsIntervalSeconds),
                    // One place is enough: a file has all of it.
                    level: services.isEmpty ? .info : .debug,
                    logger: self.logger
                )
            )
        }
        return services
    }

    private func everything() async -> [Metric] {
        self.server.metrics + (await self.server.storageMetrics())
            + ProcessMetrics.freeBytes(at: self.folder.path) + ProcessMetrics.readings
            + [ProcessMetrics.build, Metric(.processStart, self.startSeconds)]
    }
}
