import Foundation

/// A thread of the engine.
package enum EngineThread {
    /// Starts a thread with a name for tools (`top -H`, `perf`).
    ///
    /// The kernel keeps 15 characters of the name.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.start()
        // Foundation can name only a thread that was started.
        thread.name = name
    }
}
