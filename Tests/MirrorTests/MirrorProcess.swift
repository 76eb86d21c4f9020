import CloudKit
import Foundation
import TestSupport

/// `tidemark-mirror` as a process, on a file that survives it.
final class MirrorProcess {
    let path: String
    private let folder: TemporaryDirectory
    private let environment: [String: String]
    private var child: ChildProcess?

    init(_ name: String, in folder: TemporaryDirectory, _ environment: [String: String]) {
        self.path = "\(folder.path)/\(name).sqlite"
        self.folder = folder
        self.environment = environment.merging(["XDG_STATE_HOME": "\(folder.path)/\(name)"]) { $1 }
    }

    private static let program = ChildProcess.buildFolder.appendingPathComponent("tidemark-mirror")

    var isRunning: Bool { self.child != nil }

    func start(_ arguments: [String] = []) throws {
        self.child = try ChildProcess(
            Self.program,
            [self.path] + arguments,
            environment: self.environment
        )
    }

    /// Sends a signal and waits for the end.
    func end(_ signal: Int32) async {
        guard let child = self.child else { return }
        self.child = nil
        child.signal(signal)
        _ = await child.outcome()
    }

    /// Runs until file and server have the same.
    func settle(_ arguments: [String] = []) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            Self.program,
            [self.path, "--once", "--timeout", "60"] + arguments,
            environment: self.environment
        )
    }
}
