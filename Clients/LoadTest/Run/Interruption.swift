import Foundation
import Synchronization

/// Ctrl-C, or SIGTERM, while a run goes on, from its first request to its last.
///
/// The first one is noted, the second ends the process at once.
enum Interruption {
    /// How soon the first one is noticed.
    private static let beat = Duration.milliseconds(50)
    private static let signals = [SIGINT, SIGTERM]
    private static let count = Atomic<Int>(0)

    static var happened: Bool { self.count.load(ordering: .relaxed) > 0 }

    /// Notes signals from now on.
    static func arm() {
        // Made before a signal can come: nothing may be made in its handler.
        self.count.store(0, ordering: .relaxed)
        for number in self.signals {
            signal(number) { number in
                Interruption.count.add(1, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }

    /// Lets signals end the process again.
    static func disarm() {
        for number in self.signals { signal(number, SIG_DFL) }
    }

    /// Does something until it has ended or is interrupted, which cancels it.
    ///
    /// - Throws: What the body throws; `interrupted`.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(LoadFailure) -> Value
    ) async throws(LoadFailure) -> Value {
        let first = await withTaskGroup(of: Result<Value, LoadFailure>?.self) { group in
            group.addTask {
                do throws(LoadFailure) { return .success(try await body()) } catch { return .failure(error) }
            }
            group.addTask {
                await self.wait()
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
        guard let first else { throw LoadFailure(.interrupted, "interrupted") }
        return try first.get()
    }

    /// Returns when it happened, or the task is cancelled.
    static func wait() async {
        while !self.happened, (try? await Task.sleep(for: self.beat)) != nil {}
    }
}
