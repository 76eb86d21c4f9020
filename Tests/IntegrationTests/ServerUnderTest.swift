import Foundation
import TestSupport
import Testing

/// A server in a process of its own.
struct ServerUnderTest {
    let process: ChildProcess
    /// The host and port that it listens on.
    let address: String
    let authorityPath: String

    var port: Int { Int(self.address.split(separator: ":").last ?? "") ?? 0 }

    /// Starts a server on a free port and waits until it listens.
    static func start(data: String, _ arguments: String...) async throws -> ServerUnderTest {
        let process = try ChildProcess(
            ChildProcess.tidemark,
            ["serve", "--data", data, "--listen", "127.0.0.1:0"] + arguments
        )
        let found = await process.find { output -> (String, String)? in
            guard let match = output.firstMatch(of: /listens on (\S+)\nClients trust (.+)\n/) else {
                return nil
            }
            return (String(match.1), String(match.2))
        }
        guard let found else {
            let outcome = await process.outcome()
            throw StartFailure(errors: outcome.errors)
        }
        return ServerUnderTest(process: process, address: found.0, authorityPath: found.1)
    }

    /// Makes a container and a user in the folder of a server, and returns the user's token.
    static func addUser(container: String, data: String) async throws -> String {
        try await ServerProcess.makeStore(in: data)
        let created = try await ChildProcess.tidemark("container", "create", container, "--data", data)
        try #require(created.exitCode == 0)
        let added = try await ChildProcess.tidemark(
            "user",
            "add",
            "test",
            "--container",
            container,
            "--data",
            data
        )
        try #require(added.exitCode == 0)
        return String(added.output.dropLast())
    }

    struct StartFailure: Error {
        let errors: String
    }
}
