import Foundation
import RecordServer

/// All metrics of this process at one moment.
struct MetricsReading: Sendable {
    let health: ServerHealth
    let folder: DataFolder
    let startSeconds = Date().timeIntervalSince1970

    /// Those of the server are missing until there is one.
    func all() async -> [Metric] {
        var metrics: [Metric] = []
        if let server = self.health.server { metrics = server.metrics + (await server.storageMetrics()) }
        return metrics + ProcessMetrics.freeBytes(at: self.folder.path) + ProcessMetrics.readings
            + [
                ProcessMetrics.build, Metric(.processStart, self.startSeconds),
                Metric(.metricsWritten, Date().timeIntervalSince1970),
            ]
    }
}
