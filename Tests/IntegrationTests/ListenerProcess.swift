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

    /// Starts a listener that keeps what it keeps in a folder.
    static func start(
        _ desk: Desk,
        in folder: TemporaryDirectory,
        _ arguments: String...
    ) async throws -> ListenerProcess {
        let connection = try await desk.server.connection(for: "alice")
        guard case .pem(let authority) = connection.certificateAuthority, let token = connection.token else {
            throw ListenerProcessError()
        }
        let authorityPath = folder.path + "/ca.pem"
        try authority.write(toFile: authorityPath, atomically: true, encoding: .utf8)
        let process = try ChildProcess(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-listen"),
            arguments,
            environment: [
                "TIDEMARK_URL": connection.url, "TIDEMARK_TOKEN": token, "TIDEMARK_CA": authorityPath,
                "TIDEMARK_CONTAINER": TestServer.defaultContainerIdentifier, "XDG_STATE_HOME": folder.path,
            ]
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
