import Foundation
import ServiceLifecycle

/// Tells the supervisor that the server is alive, twice in each of its intervals.
///
/// Before each sign of life all threads that serve must respond. If one hangs, the service waits
/// with it and sends nothing, and the supervisor starts the server anew.
struct Watchdog: Service {
    let interval: Duration
    let supervisor: Supervisor
    /// Returns when all threads that serve have responded.
    let response: @Sendable () async -> Void

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: self.interval / 2)
                await self.response()
                self.supervisor.tell(.alive)
            }
        }
    }
}
