import CloudKit
import Foundation
import TestSupport
import Testing

/// What `tidemark-load` finds wrong before it asks for anything, and what it leaves behind: nothing.
@Suite(.timeLimit(.minutes(10)))
struct LoadTestTidinessTests {
    private static let program = ChildProcess.buildFolder.appendingPathComponent("tidemark-load")

    /// Names of all zones of all users.
    private func zones(
        _ load: LoadTestProcess,
        _ environment: CKServerConnection.Environment
    ) async throws -> Set<String> {
        var names: Set<String> = []
        for token in load.tokens {
            let connection = CKServerConnection(
                url: "tidemark://127.0.0.1:\(load.server.port)",
                token: token,
                certificateAuthority: .file(load.server.authorityPath),
                environment: environment
            )
            let container = CKContainer(identifier: LoadTestProcess.container, connection: connection)
            names.formUnion(try await container.privateCloudDatabase.allRecordZones().map(\.zoneID.zoneName))
            await connection.close()
        }
        return names
    }

    @Test
    func `what production refuses leaves nothing there, and says what to do`() async throws {
        let load = try await LoadTestProcess.start()
        let outcome = try await load.run(
            "save",
            "--environment",
            "production",
            "--connections",
            "2",
            "--records",
            "640"
        )
        #expect(outcome.exitCode == 70)
        #expect(outcome.errors.contains("Use a container in development"), "\(outcome.errors)")
        #expect(try await self.zones(load, .production) == [CKRecordZone.ID.defaultZoneName])
        #expect(!FileManager.default.fileExists(atPath: load.jsonPath))
    }

    @Test(arguments: ["saving ", "\n0 s  "])
    func `an interruption leaves nothing, whenever it comes`(moment: String) async throws {
        let load = try await LoadTestProcess.start()
        let process = try load.begin([
            "save", "--verify", "--duration", "600", "--warm-up", "0.5", "--connections", "4", "--records",
            "20000",
        ])
        try await LoadTestProcess.hear(moment, from: process)
        process.signal(SIGINT)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 130, "\(outcome.errors)")
        #expect(try await self.zones(load, .development) == [CKRecordZone.ID.defaultZoneName])
    }

    @Test
    func `a report that cannot be written ends the run before its first request`() async throws {
        let folder = try TemporaryDirectory()
        let nowhere = ["--url", "tidemark://127.0.0.1:1", "--container", "iCloud.x", "--token", "x"]
        for option in ["--report", "--json"] {
            let path = folder.path + "/no/such/file"
            let outcome = try await ChildProcess.run(Self.program, ["save", option, path] + nowhere)
            #expect(outcome.exitCode == 73)
            #expect(outcome.errors.contains("\(path) cannot be written: No such file or directory"))
        }
        let kept = folder.path + "/kept.json"
        try "earlier".write(toFile: kept, atomically: true, encoding: .utf8)
        let fresh = folder.path + "/fresh.html"
        let outcome = try await ChildProcess.run(
            Self.program,
            ["save", "--json", kept, "--report", fresh] + nowhere
        )
        #expect(outcome.exitCode == 69)
        #expect(!FileManager.default.fileExists(atPath: fresh))
        #expect(try String(contentsOfFile: kept, encoding: .utf8) == "earlier")
    }

    @Test
    func `options are checked before the server's address, and nothing is answered at length`() async throws {
        func run(_ arguments: String...) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(Self.program, arguments)
        }
        let nothing = try await run()
        #expect(nothing.exitCode == 64)
        #expect(nothing.errors.split(separator: "\n").count < 10)
        for (option, value) in [("--duration", "-5"), ("--rate", "-1"), ("--connections", "-2")] {
            let outcome = try await run("save", option, value)
            #expect(outcome.exitCode == 64)
            #expect(outcome.errors.contains("\(option) takes a number from "), "\(outcome.errors)")
        }
        let tokens = try await run("save", "--tokens", "/no/such/file")
        #expect(tokens.exitCode == 64)
        #expect(tokens.errors.contains("/no/such/file cannot be read"), "\(tokens.errors)")
        let version = try await run("--version")
        #expect(version.exitCode == 0 && version.output.contains(/^\d+\.\d+\.\d+\n$/))
    }
}
