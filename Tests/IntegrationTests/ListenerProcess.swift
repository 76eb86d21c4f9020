import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// `tidemark-listen` in a process of its own, an installation of its own, for the user of a desk.
struct ListenerProcess {
    let process: ChildProcess
    /// Lives as long as this value.
    let folder: TemporaryDirectory

    /// Starts a listener of alice that keeps what it keeps in a folder.
    static func start(
        _ desk: Desk,
        in folder: TemporaryDirectory,
        _ arguments: String...
    ) async throws -> ListenerProcess {
        try self.start(await self.variables(of: "alice", at: desk, in: folder), in: folder, arguments)
    }

    /// The environment variables of a process that connects; not signed in if `nil`.
    static func variables(
        of user: String?,
        at desk: Desk,
        in folder: TemporaryDirectory
    ) async throws -> [String: String] {
        let connection = try await desk.server.connection(for: user)
        guard case .pem(let authority) = connection.certificateAuthority else { throw ListenerProcessError() }
        let authorityPath = folder.path + "/ca.pem"
        try authority.write(toFile: authorityPath, atomically: true, encoding: .utf8)
        return [
            "TIDEMARK_URL": connection.url, "TIDEMARK_TOKEN": connection.token ?? "",
            "TIDEMARK_CA": authorityPath, "TIDEMARK_CONTAINER": TestServer.defaultContainerIdentifier,
        ]
    }

    /// Starts a listener with what its environment says.
    static func start(
        _ variables: [String: String],
        in folder: TemporaryDirectory,
        _ arguments: [String]
    ) throws -> ListenerProcess {
        let process = try ChildProcess(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-listen"),
            arguments,
            environment: variables.merging(["XDG_STATE_HOME": folder.path]) { own, _ in own }
        )
        return ListenerProcess(process: process, folder: folder)
    }

    /// Waits until standard error has a text.
    func says(_ text: String, times: Int = 1) async throws {
        while self.process.errorsSoFar.components(separatedBy: text).count <= times {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Waits until standard output has so many lines, and returns them.
    func lines(_ count: Int) async throws -> [String] {
        let lines = await self.process.find { output -> [String]? in
            let lines = output.split(separator: "\n").map(String.init)
            // The last one may be half of a line.
            return output.hasSuffix("\n") && lines.count >= count ? lines : nil
        }
        return try #require(lines, "it has ended: \(self.process.errorsSoFar)")
    }

    /// Stops it as an operator would, and returns all that it wrote.
    func stop(_ signal: Int32 = SIGTERM) async -> ChildProcess.Outcome {
        self.process.signal(signal)
        return await self.process.outcome()
    }
}

struct ListenerProcessError: Error {}

extension ChildProcess.Outcome {
    var lines: [String] { self.output.split(separator: "\n").map(String.init) }
}

extension String {
    /// The text of a key in a line of JSON.
    func json(_ key: String) -> String? {
        let object = try? JSONSerialization.jsonObject(with: Data(self.utf8)) as? [String: Any]
        return object?[key].map { "\($0)" }
    }
}
