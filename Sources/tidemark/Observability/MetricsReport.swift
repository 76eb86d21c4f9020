import Logging
import RecordServer
import ServiceLifecycle

/// Reports the metrics of a server to operators: in the log, and in a file if one is configured.
struct MetricsReport {
    let settings: Settings
    let reading: MetricsReading
    let server: RecordServer
    let logger: Logger

    /// The services, to be started before the server's.
    ///
    /// They end after it, and so report all that it did.
    ///
    /// - Throws: `cannotCreate` if the file cannot be written.
    func services() async throws(CommandFailure) -> [any Service] {
        var services: [any Service] = []
        if let path = self.settings.metricsFilePath {
            let file = MetricsFile(
                path: path,
                interval: .seconds(self.settings.metricsFileIntervalSeconds),
                read: { await self.reading.all() },
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
                    // With all metrics elsewhere, the log need not show them at info.
                    level: services.isEmpty && self.settings.metricsListen == nil ? .info : .debug,
                    logger: self.logger
                )
            )
        }
        return services
    }
}
