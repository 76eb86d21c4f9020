import Foundation
import TestSupport
import Testing

/// `tidemark backup --list`: single backups, and the span of one that is continued.
@Suite(.timeLimit(.minutes(10)))
struct BackupListTests {
    private struct Row: Decodable {
        let path: String?
        let kind: String
        let state: String
        let from: String?
        let to: String?
    }

    private static func list(
        _ arguments: String...
    ) async throws -> (rows: [Row], outcome: ChildProcess.Outcome) {
        let outcome = try await ChildProcess.run(ChildProcess.tidemark, ["backup", "--list"] + arguments)
        guard arguments.contains("--json"), outcome.exitCode == 0 else { return ([], outcome) }
        return (try JSONDecoder().decode([Row].self, from: Data(outcome.output.utf8)), outcome)
    }

    @Test
    func `single and continued backups are listed with the times that can be restored`() async throws {
        try await BackupScene.run { scene in
            let data = scene.server.dataPath
            let none = try await Self.list("--data", data).outcome
            #expect(
                none.exitCode == 66 && none.errors.contains("tidemark backup --list --from DIR"),
                "\(none.errors)"
            )
            try FileManager.default.createDirectory(
                atPath: scene.path("places"),
                withIntermediateDirectories: true
            )
            #expect(try await scene.backUp(to: "places/one").exitCode == 0)
            let follow = try FollowProcess(scene, to: "places/chain")
            await follow.wait(for: "base")
            _ = try await scene.save(recordText("one", #""text":{"value":"a"}"#))
            await follow.wait(for: "increment")
            let states = await follow.stop().filter { $0.event == "base" || $0.event == "increment" }

            for arguments in [["--from", scene.path("places")], ["--data", data]] {
                let outcome = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    ["backup", "--list", "--json"] + arguments
                )
                let rows = try JSONDecoder().decode([Row].self, from: Data(outcome.output.utf8))
                #expect(
                    rows.map(\.kind) == ["continued", "single"] && rows.allSatisfy { $0.state == "complete" }
                )
                #expect(rows.first?.from == states.first?.time)
                #expect((rows.first?.to ?? "") >= (states.last?.time ?? "-"))
                #expect(rows.last?.from == rows.last?.to && rows.last?.path == scene.path("places/one"))
            }
            let one = try await Self.list("--from", scene.path("places/one"), "--json").rows
            #expect(one.map(\.path) == [scene.path("places/one")])
            let table = try await Self.list("--from", scene.path("places")).outcome
            #expect(table.output.hasPrefix("FROM ") && table.output.contains(scene.path("places/chain")))
            #expect(try await Self.list("--from", data).outcome.exitCode == 66)
        }
    }
}
