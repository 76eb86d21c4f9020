import Foundation

/// A folder of its own for one test, removed when the value goes.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        self.path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}
