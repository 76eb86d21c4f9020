import TestSupport
import Testing

/// Orders that a query asks for, and that the schema has no index for.
@Suite(.timeLimit(.minutes(10)))
struct RecordOrderTests {
    @Test
    func `an order that the schema has no index for names the ways to what changed last`() async throws {
        try await BackupScene.run { scene in
            #expect(try await scene.save(recordText("one", #""text":{"value":"a"}"#)).exitCode == 0)
            let outcome = try await scene.records("query", ["--type", "Note", "--sort", "___modTime:desc"])
            #expect(outcome.exitCode == 65)
            #expect(
                outcome.errors.contains(
                    #"Index it in the schema: "___modTime" TIMESTAMP QUERYABLE SORTABLE, or the type that it has. "#
                        + "What changed last: tidemark records changes --help, tidemark zone log --help"
                ),
                "\(outcome.errors)"
            )
        }
    }
}
