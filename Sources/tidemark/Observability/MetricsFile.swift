import Foundation
import Logging
import RecordServer
import ServiceLifecycle

/// Writes every metric into a file, at an interval and once more at the end.
///
/// The file is replaced in one step, so that a reader finds the metrics of one moment. Other users
/// may read it, because a collector is one.
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
        let text = Exposition.text(of: await self.read())
        // A collector reads files that end with `.prom`, and so not this one.
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
        // Others may write to the folder. Use only a file that we made, not one that another user
        // put there.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, Self.permissions)
        guard descriptor >= 0 else { return false }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // The umask would remove the permissions of others.
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
