package import Foundation
import Synchronization

extension Process {
    /// Starts the process, one at a time in all tests: on Linux, two that start at once read each other's memory.
    package func startAlone() throws {
        try startGate.withLock { _ in try self.run() }
    }
}

private let startGate = Mutex(())
