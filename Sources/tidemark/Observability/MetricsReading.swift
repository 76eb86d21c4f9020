import Administration
import Foundation
import RecordServer

/// All metrics of this process at one moment.
struct MetricsReading: Sendable {
    let health: ServerHealth
    let folder: DataFolder
    let startSeconds = Date().timeIntervalSince1970

    /// The server's metrics are missing until the store is open.
    func all() async -> [Metric] { self.counted + (await self.stored()) }

    /// The sizes of what is stored; reading them takes longer with more databases.
    func stored() async -> [Metric] { await self.health.server?.storageMetrics() ?? [] }

    /// All others.
    var counted: [Metric] {
        let server = self.health.server
        let certificate = server.map { Metric(.certificateEnd, Double($0.certificateEndSeconds)) }
        return (server?.metrics ?? []) + [certificate].compactMap { $0 }
            + ProcessMetrics.freeBytes(at: self.folder.path) + ProcessMetrics.readings
            + [
                ProcessMetrics.build, Metric(.processStart, self.startSeconds),
                Metric(.metricsWritten, Date().timeIntervalSince1970),
            ]
    }
}
