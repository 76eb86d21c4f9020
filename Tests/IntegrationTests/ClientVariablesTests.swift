import Foundation
import TestSupport
import Testing

@testable import tidemark

/// What `serve` prints for a shell.
@Suite(.timeLimit(.minutes(10)))
struct ClientVariablesTests {
    @Test(
        arguments: [
            ("0.0.0.0", "tidemark://127.0.0.1:7430"), ("::", "'tidemark://[::1]:7430'"),
            ("db.example.org", "tidemark://db.example.org:7430"),
        ]
    )
    func `an address of all stands for this machine`(host: String, url: String) {
        let variables = ClientVariables(address: ListenAddress(host: host, port: 7_430), authorityPath: nil)
        #expect(variables.lines == "export TIDEMARK_URL=\(url)\n")
    }

    @Test(arguments: ["/plain/ca.pem", "/with blank/ca.pem", "/with 'quotes'/$HOME/`id`;*/ca.pem"])
    func `a shell takes the lines as they are`(path: String) async throws {
        let address = ListenAddress(host: "127.0.0.1", port: 7_430)
        let variables = ClientVariables(address: address, authorityPath: path)
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", variables.lines + #"printf '%s %s' "$TIDEMARK_URL" "$TIDEMARK_CA""#]
        )
        #expect(outcome.output == "tidemark://127.0.0.1:7430 \(path)")
    }

    @Test
    func `a server prints what its clients need`() async throws {
        let folder = try TemporaryDirectory()
        let server = try await ServerUnderTest.start(data: folder.path + "/data")
        let lines =
            "export TIDEMARK_URL=tidemark://\(server.address)\nexport TIDEMARK_CA=\(server.authorityPath)\n"
        #expect(await server.process.find { $0.contains(lines) ? true : nil } == true)
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }
}
