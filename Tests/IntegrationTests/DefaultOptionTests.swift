import Foundation
import TestSupport
import Testing

/// Commands whose line names neither a container nor a user.
@Suite(.timeLimit(.minutes(10)))
struct DefaultOptionTests {
    private static func run(
        _ line: String,
        _ scene: BackupScene,
        _ environment: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome {
        let words = line.split(separator: " ").map(String.init)
        return try await ChildProcess.run(
            ChildProcess.tidemark,
            words,
            environment: environment.merging(["TIDEMARK_DATA": scene.server.dataPath]) { given, _ in given }
        )
    }

    @Test
    func `the only container and the only user are meant, and several are named in the error`() async throws {
        try await BackupScene.run { scene in
            #expect(try await scene.save(recordText("one", #""text":{"value":"a"}"#)).exitCode == 0)
            let lines = [
                "user list", "key list", "schema export", "user role list alice", "zone log --zone desk",
                "records get one --zone desk", "explain --type Note", "access one --zone desk --as alice",
            ]
            for line in lines where line != "zone log --zone desk" {
                let outcome = try await Self.run(line, scene)
                #expect(outcome.exitCode == 0, "\(line): \(outcome.errors)")
            }
            try await scene.server.administer(["container", "create", "iCloud.other"])
            for line in lines {
                let outcome = try await Self.run(line, scene)
                #expect(outcome.exitCode == 64, "\(line)")
                #expect(
                    outcome.errors
                        == "tidemark: the data folder has 2 containers: iCloud.backup, iCloud.other. "
                        + "Name one with --container, or in TIDEMARK_CONTAINER.\n"
                )
            }
            let named = try await Self.run("user list", scene, ["TIDEMARK_CONTAINER": "iCloud.backup"])
            #expect(named.output.contains("alice"))
            // The command line wins, and an empty variable is none.
            let other = ["TIDEMARK_CONTAINER": "iCloud.other"]
            #expect(
                try await Self.run("user list --container=iCloud.backup", scene, other).output.contains(
                    "alice"
                )
            )
            #expect(try await Self.run("user list", scene, ["TIDEMARK_CONTAINER": ""]).exitCode == 64)
            #expect(try await Self.run("usage", scene, other).output.contains("iCloud.backup"))
        }
    }

    @Test
    func `a private database is that of the only user, and several are named in the error`() async throws {
        try await BackupScene.run { scene in
            #expect(try await scene.save(recordText("one", #""text":{"value":"a"}"#)).exitCode == 0)
            let get = "records get none --zone desk"
            for line in ["records delete one --zone desk --yes", "zone undo --zone desk --to 1h"] {
                let write = try await Self.run(line, scene)
                #expect(write.exitCode == 64 && write.errors.contains("with --as, or in TIDEMARK_AS"))
            }
            #expect(try await Self.run(get, scene).errors.contains("'none'"))
            #expect(try await Self.run("records query --type Note --database public", scene).exitCode == 0)
            let add = ["user", "add", "bob", "--container", BackupScene.containerID]
            try await scene.server.administer(add)
            let several = try await Self.run(get, scene)
            #expect(several.exitCode == 64)
            #expect(
                several.errors
                    == "tidemark: a private database belongs to a user, and iCloud.backup has 2 users: alice, bob. "
                    + "Name one with --as, or in TIDEMARK_AS; or say --database public.\n"
            )
            #expect(try await Self.run(get, scene, ["TIDEMARK_AS": "alice"]).errors.contains("'none'"))
            let wins = try await Self.run(get + " --as carol", scene, ["TIDEMARK_AS": "alice"])
            #expect(wins.errors.contains("there is no user carol"))
        }
    }

    @Test
    func `a folder without a container or a user says what to make`() async throws {
        let server = try ServerProcess()
        try await server.start()
        let list = try await ChildProcess.tidemark("user", "list", "--data", server.dataPath)
        #expect(list.exitCode == 64)
        #expect(list.errors.contains("has no container yet. Create one: tidemark container create ID"))
        try await server.administer(["container", "create", "iCloud.only"])
        let query = ["records", "query", "--type", "Note", "--data", server.dataPath]
        let outcome = try await ChildProcess.run(ChildProcess.tidemark, query)
        #expect(outcome.exitCode == 64)
        #expect(outcome.errors.contains("Add one: tidemark user add NAME --container iCloud.only"))
        #expect(await server.end(SIGTERM) == 0)
    }
}
