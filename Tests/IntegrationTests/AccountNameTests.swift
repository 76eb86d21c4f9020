import TestSupport
import Testing

/// Commands name users as operators do, and not by their user record names.
@Suite(.timeLimit(.minutes(10)))
struct AccountNameTests {
    @Test
    func `users have the names that operators gave them, and a user record name where an app needs it`()
        async throws
    {
        try await BackupScene.run { scene in
            let server = scene.server
            try await server.administer([
                "container", "history", BackupScene.containerID, "--days", "1", "--yes",
            ])
            #expect(try await scene.save(recordText("one", #""text":{"value":"a"}"#)).exitCode == 0)
            func run(_ command: [String]) async throws -> String {
                try await server.administer(command + ["--zone", "desk"] + scene.place())
            }
            let pattern = #/_[0-9a-f]{32}/#
            let log = try await run(["zone", "log"])
            #expect(log.contains("alice") && !log.contains(pattern), "\(log)")
            #expect(try await run(["zone", "log", "--json"]).contains(#""userName":"alice""#))
            let access = try await run(["access", "one"])
            #expect(access.contains(#/alice \(_[0-9a-f]{32}\)/#), "\(access)")
            #expect(try await run(["access", "one", "--json"]).contains(#""name" : "alice""#))
            let text = try await run(["explain-record", "one"])
            #expect(text.contains(#/modified  \S+ by alice \(_[0-9a-f]{32}\)/#), "\(text)")
            #expect(
                try await run(["explain-record", "one", "--json"]).contains(#/"_[0-9a-f]{32}" : "alice"/#)
            )
            // Without a user both look where all users do, and not at the only user's records.
            for command in ["access", "explain-record"] {
                let missing = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    [command, "one", "--container", BackupScene.containerID, "--data", server.dataPath]
                )
                #expect(missing.exitCode == 65)
                #expect(missing.errors.contains("of the public database."), "\(missing.errors)")
                #expect(missing.errors.contains("--as"), "\(missing.errors)")
            }
        }
    }
}
