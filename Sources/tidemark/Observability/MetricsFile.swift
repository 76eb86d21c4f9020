import Foundation
import Logging
import RecordServer
import ServiceLifecycle

/// Writes every figure into a file, at an interval and once more at the end.
///
/// The file takes the place of the one before in one step, so that whoever reads it finds all of one moment.
struct MetricsFile: Service {
    let path: String
    let metrics: MemoryMetrics
    let interval: Duration
    /// Brings the figures up to date that are counted elsewhere.
    let refresh: @Sendable () -> Void
    let logger: Logger

    func run() async throws {
        for await _ in AsyncTicks(interval: self.interval).cancelOnGracefulShutdown() { self.writeOrTell() }
        self.writeOrTell()
    }

    /// - Throws: `cannotCreate`.
    func write() throws(CommandFailure) {
        self.refresh()
        let time = Date().timeIntervalSince1970
        let text =
            self.metrics.exposition()
            + "# TYPE tidemark_metrics_written_seconds gauge\ntidemark_metrics_written_seconds \(time)\n"
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: self.path), options: .atomic)
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "the metrics cannot be written to \(self.path). Check its folder and who owns it."
            )
        }
    }

    private func writeOrTell() {
        do throws(CommandFailure) {
            try self.write()
        } catch {
            self.logger.error("metrics_file cannot be written", metadata: [LogKeys.path: "\(self.path)"])
        }
    }
}
