import Foundation
import Synchronization

/// Handles Ctrl-C and SIGTERM during a run, from its first request to its last.
///
/// The first signal is noted, the second ends the process at once.
enum Interruption {
    /// How soon the first signal is noticed.
    private static let beat = Duration.milliseconds(50)
    private static let signals = [SIGINT, SIGTERM]
    private static let count = Atomic<Int>(0)

    static var happened: Bool { self.count.load(ordering: .relaxed) > 0 }

    /// Handles signals from now on.
    static func arm() {
        // Allocate before a signal can come, because its handler must not.
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

    /// Runs the body until its end.
    ///
    /// A signal cancels it.
    ///
    /// - Throws: The error of the body, or `interrupted`.
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

    /// Returns after a signal, or when the task is cancelled.
    static func wait() async {
        while !self.happened, (try? await Task.sleep(for: self.beat)) != nil {}
    }
}
