import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark explain`, beside the server that serves the same folder.
@Suite(.timeLimit(.minutes(10)))
struct ExplainCommandTests {
    private static let container = "iCloud.a"

    private static func explain(_ data: String, _ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["explain", "--container", self.container, "--data", data] + arguments
        )
    }

    @Test
    func `a query is explained beside the server: plan, reads and results`() async throws {
        let folder = try TemporaryDirectory()
        let data = folder.path + "/data"
        let server = try await ServerUnderTest.start(data: data)
        defer { server.process.signal(SIGKILL) }
        let token = try await ServerUnderTest.addUser(container: Self.container, data: data)
        let connection = CKServerConnection(
            url: "tidemark://\(server.address)",
            token: token,
            certificateAuthority: .file(server.authorityPath)
        )
        let database = CKContainer(identifier: Self.container, connection: connection).privateCloudDatabase
        let notes = (1...30).map { number in
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note-\(number)"))
            note["number"] = number % 10
            note["title"] = "Note \(number)"
            return note
        }
        _ = try await database.modifyRecords(saving: notes, deleting: [])

        let found = try await Self.explain(data, ["--as", "test", "--type", "Note", "number == 3"])
        #expect(found.exitCode == 0, "\(found.errors)")
        #expect(found.output.contains("plan      read one value of number"))
        #expect(found.output.contains("read      3 index entries, 3 records"))
        #expect(found.output.contains("returned  3 records, no more"))

        let sorted = try await Self.explain(
            data,
            ["--as", "test", "--type", "Note", "--sort", "creationDate:desc", "--limit", "5"]
        )
        #expect(sorted.output.contains("in the order of ___createTime descending"))
        #expect(sorted.output.contains("returned  5 records, and more behind them"))

        let refusals: [([String], Int32, String)] = [
            (["--as", "test", "--type", "Nothing"], 65, "Did not find record type: Nothing"),
            (["--as", "test", "--type", "Note", "colour == 1"], 65, "colour"),
            (["--as", "test", "--type", "Note", "number =="], 64, "Unable to parse the format string"),
            (["--as", "test", "--type", "Note", "title LIKE 'a'"], 64, "Invalid predicate"),
            (["--as", "nobody", "--type", "Note"], 65, "nobody"),
            (["--as", "test", "--type", "Note", "--limit", "0"], 64, "--limit"),
        ]
        for (arguments, exitCode, text) in refusals {
            let outcome = try await Self.explain(data, arguments)
            #expect(outcome.exitCode == exitCode, "\(arguments): \(outcome.errors)")
            #expect(outcome.errors.contains(text), "\(arguments): \(outcome.errors)")
        }
    }
}
