import Logging
import ServiceLifecycle

/// Writes every figure into the log, at an interval and once more at the end.
struct MetricsLog: Service {
    let metrics: MemoryMetrics
    let interval: Duration
    let logger: Logger

    func run() async throws {
        for await _ in AsyncTicks(interval: self.interval).cancelOnGracefulShutdown() {
            self.write()
        }
        self.write()
    }

    private func write() {
        let figures = self.metrics.snapshot()
        guard !figures.isEmpty else { return }
        self.logger.info("metrics", metadata: figures.mapValues { .string($0) })
    }
}

/// An element after each interval, until the task is cancelled.
struct AsyncTicks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let interval: Duration

    func makeAsyncIterator() -> AsyncTicks { self }

    func next() async -> Void? {
        do {
            try await Task.sleep(for: self.interval)
            return ()
        } catch {
            return nil
        }
    }
}
