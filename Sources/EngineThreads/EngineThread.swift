import Foundation

/// A thread of the engine's own.
package enum EngineThread {
    /// Starts a thread that tools (`top -H`, `perf`) show under its name.
    ///
    /// The kernel keeps 15 characters of the name.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.start()
        // Before, there is nothing yet that Foundation could name.
        thread.name = name
    }
}
