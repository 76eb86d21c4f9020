import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// The example: two services with accounts of their own keep a list together, each a process.
@Suite(.timeLimit(.minutes(10)))
struct SharedListTests {
    private struct Service {
        let process: ChildProcess
        let folder: TemporaryDirectory

        init(_ server: ServerProcess, token: String, _ arguments: [String]) throws {
            self.folder = try TemporaryDirectory()
            self.process = try ChildProcess(
                ChildProcess.buildFolder.appendingPathComponent("shared-list"),
                arguments,
                environment: [
                    "TIDEMARK_URL": "tidemark://localhost:\(server.port)",
                    "TIDEMARK_CA": server.authorityPath,
                    "TIDEMARK_TOKEN": token, "XDG_STATE_HOME": self.folder.path,
                ]
            )
        }

        /// Waits for a line that begins so, and returns what follows.
        func line(_ start: String) async throws -> String {
            let found = await self.process.find { output in
                output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                    .first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
            }
            return try #require(found, "it has ended: \(self.process.errorsSoFar)")
        }
    }

    @Test
    func `two services share a list, and each learns at once what the other adds`() async throws {
        let server = try ServerProcess()
        let container = "iCloud.org.example.lists"
        try await server.administer(["container", "create", container])
        let alice = try await server.administer(["user", "add", "alice", "--container", container])
        let bob = try await server.administer(["user", "add", "bob", "--container", container])
        try await server.start()
        let host = try Service(server, token: alice, ["host", "milk"])
        let url = try await host.line("Share: ")
        #expect(url.hasPrefix("tidemark://localhost:\(server.port)/share/"))
        let guest = try Service(server, token: bob, ["join", url, "bread"])
        #expect(try await guest.line("Joined: ") == "Shopping")
        #expect(try await guest.line("News: milk") == "")
        #expect(try await host.line("News: bread") == "")
        let adder = try Service(server, token: alice, ["add", "butter"])
        #expect(await adder.process.outcome().exitCode == 0)
        #expect(try await guest.line("News: butter") == "")
        #expect(try await host.line("News: butter") == "")
        let report = try await server.administer([
            "access", "shopping", "--container", container, "--as", "alice", "--zone", "Lists",
        ])
        #expect(report.contains("user with the URL who may read and write, in the share"))
        for service in [host, guest] {
            service.process.signal(SIGTERM)
            _ = await service.process.outcome()
        }
        await server.end(SIGTERM)
    }
}
