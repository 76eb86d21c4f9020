import Foundation
import Logging
import RecordServer
import ServiceLifecycle

/// Writes every metric into a file, at an interval and once more at the end.
///
/// The file takes the place of the one before in one step, so that a reader finds all of one moment. Others may read it: a
/// collector is another user.
struct MetricsFile: Service {
    private static let permissions: mode_t = 0o644

    let path: String
    let interval: Duration
    let read: @Sendable () async -> [Metric]
    let logger: Logger

    func run() async throws {
        for await _ in AsyncTicks(interval: self.interval).cancelOnGracefulShutdown() {
            await self.writeOrTell()
        }
        await self.writeOrTell()
    }

    /// - Throws: `cannotCreate`.
    func write() async throws(CommandFailure) {
        let written = Metric(.metricsWritten, Date().timeIntervalSince1970)
        let text = Exposition.text(of: await self.read() + [written])
        // A collector reads what ends with `.prom`: not this.
        let draft = self.path + ".new"
        guard self.write(text, to: draft), rename(draft, self.path) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(draft)
            throw CommandFailure(
                .cannotCreate,
                "the metrics cannot be written to \(self.path): \(reason). Check its folder and who owns it."
            )
        }
    }

    private func write(_ text: String, to draft: String) -> Bool {
        // The folder may be open to others: a file of our making alone, and not what somebody put in its place.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, Self.permissions)
        guard descriptor >= 0 else { return false }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // The mask of the process would take the rights of others away.
        guard fchmod(descriptor, Self.permissions) == 0 else { return false }
        do {
            try file.write(contentsOf: Data(text.utf8))
            try file.close()
            return true
        } catch {
            return false
        }
    }

    private func writeOrTell() async {
        do throws(CommandFailure) {
            try await self.write()
        } catch {
            self.logger.error(
                "metrics_file cannot be written",
                metadata: [LogKeys.reason: "\(error.message)"]
            )
        }
    }
}
