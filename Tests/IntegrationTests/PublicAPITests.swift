import Foundation
import TestSupport
import Testing

/// The digest of the public API, and what reads it.
@Suite(.timeLimit(.minutes(10)))
struct PublicAPITests {
    private static let api = Readme.repository.appendingPathComponent("Clients/API")

    @Test
    func `the public API is that of its digest`() async throws {
        let outcome = try await ChildProcess.run(
            Readme.repository.appendingPathComponent("Scripts/api"),
            [],
            environment: ["TIDEMARK_BIN": ChildProcess.buildFolder.path]
        )
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        #expect(outcome.output.contains("in CloudKit, CloudKitTesting, CoreLocation: 0 removed"))
        // Declarations that every reader of the digest expects, of each kind of line.
        let digest = try String(contentsOf: Self.api.appendingPathComponent("CloudKit.txt"), encoding: .utf8)
        let lines = Set(digest.split(separator: "\n"))
        #expect(lines.count > 2_000)
        #expect(
            lines.contains("CKRecord : NSSecureCoding")
                || lines.contains("CKRecord : Foundation.NSSecureCoding")
        )
        #expect(lines.contains { $0.hasPrefix("CKDatabase.record(for:) | ") && $0.contains("async throws") })
    }

    /// A symbol graph, as the compiler's tool writes it.
    private static func graph(
        _ declarations: [(path: [String], text: String)],
        conformances: [String]
    ) -> String {
        let symbols = declarations.map { path, text in
            [
                "identifier": ["precise": path.joined(separator: ".")], "pathComponents": path,
                "declarationFragments": [["spelling": text]], "accessLevel": "public",
            ] as [String: Any]
        }
        let relations = conformances.map {
            ["kind": "conformsTo", "source": "Note", "target": "x", "targetFallback": "Swift.\($0)"]
        }
        let graph: [String: Any] = ["symbols": symbols, "relationships": relations]
        let data = try? JSONSerialization.data(withJSONObject: graph)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    private static func digest(
        _ folder: TemporaryDirectory,
        _ flags: String...
    ) async throws -> ChildProcess.Outcome {
        let script = Self.api.appendingPathComponent("digest.py").path
        return try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            [script, folder.path, folder.path] + flags
        )
    }

    @Test
    func `what was removed, changed and added is told apart`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/Planted.symbols.json"
        let before = Self.graph(
            [
                (["Note"], "struct Note"), (["Note", "text"], "var text: String"),
                (["Note", "gone"], "var gone: Int"), (["Note", "init(_:)"], "init(_ text: String)"),
                (["Note", "init(_:)"], "init(_ text: Int)"),
            ],
            conformances: ["Hashable", "Sendable"]
        )
        try before.write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try await Self.digest(folder).exitCode == 1, "without a digest everything is new")
        #expect(try await Self.digest(folder, "--update").exitCode == 0)
        let same = try await Self.digest(folder)
        #expect(same.exitCode == 0)
        #expect(same.output == "7 declarations in Planted: 0 removed or changed, 0 added\n")

        let after = Self.graph(
            [
                (["Note"], "struct Note"), (["Note", "text"], "var text: String?"),
                (["Note", "new"], "var new: Int"), (["Note", "init(_:)"], "init(_ text: String)"),
            ],
            conformances: ["Hashable"]
        )
        try after.write(toFile: file, atomically: false, encoding: .utf8)
        let changed = try await Self.digest(folder)
        #expect(changed.exitCode == 1)
        #expect(
            changed.output == """
                Planted: removed  Note : Sendable
                Planted: removed  Note.gone | var gone: Int
                Planted: removed  Note.init(_:) | init(_ text: Int)
                Planted: changed  Note.text | var text: String
                     to  Note.text | var text: String?
                Planted: added    Note.new | var new: Int
                5 declarations in Planted: 4 removed or changed, 1 added

                """
        )
    }
}
