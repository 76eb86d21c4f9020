import Foundation
import Testing

/// What a stranger reads first: the README, the articles and the guides for operators.
@Suite
struct FrontDoorTests {
    private static func document(_ path: String) throws -> Document {
        try #require(try Document.all().first { $0.path == path }, "\(path)")
    }

    private static func isFrontDoor(_ document: Document) -> Bool {
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].contains(document.path)
            || document.path.hasPrefix("Clients/CloudKit/Documentation.docc/")
            || document.path.hasPrefix("Sources/tidemark/Guides/")
            || document.path == "Sources/tidemark/README.md" || document.path == "Clients/README.md"
    }

    /// Two minutes of reading; the rest has documents of its own.
    ///
    /// Tables and code count in the second bound alone: a program and a list are looked at, not read.
    @Test
    func `the README has at most 750 words of prose, and 1050 with tables and code`() throws {
        let document = try Self.document("README.md")
        #expect((300...750).contains(document.proseWordCount))
        #expect(document.wordCount <= 1_050)
    }

    @Test
    func `a sentence has fewer than 20 words on average`() throws {
        let documents = try Document.all()
        #expect(documents.count { Self.isFrontDoor($0) } > 20)
        for document in documents {
            let mean = document.meanSentenceLength
            #expect(mean < 20, "\(document.path)")
            #expect(mean > 3 || !Self.isFrontDoor(document), "\(document.path)")
        }
    }

    @Test
    func `words of prose and of sentences are counted without tables, code and targets of links`() {
        let text = """
            # One two

            Three `four five` [six](seven.md#eight). Nine 1.5 ten?
            Eleven.

            | twelve | thirteen |
            |---|---|

            ```sh
            fourteen
            ```

            * Fifteen sixteen:
            """
        let document = Document(path: "planted.md", text: text)
        #expect(document.proseWordCount == 14)
        // Of 3, 3, 1 and 2 words.
        #expect(document.meanSentenceLength == 2.25)
    }

    /// A reader of two documents must not find two numbers.
    @Test
    func `the README names the versions that the code has`() throws {
        let readme = try Self.document("README.md").text
        func constant(_ pattern: Regex<(Substring, Substring)>, in path: String) throws -> Substring {
            let url = SourceTree.root.appendingPathComponent(path)
            return try #require(try String(contentsOf: url, encoding: .utf8).firstMatch(of: pattern)).1
        }
        let release = try constant(/version = "([^"]+)"/, in: "Protocol/RecordModel/Release.swift")
        #expect(readme.contains("This is version \(release)."))
        let wire = try constant(/current: UInt32 = (\d+)/, in: "Protocol/WireProtocol/ProtocolVersion.swift")
        #expect(readme.contains("| wire protocol | \(wire) |"))
        let format = try constant(/formatKnown = (\d+)/, in: "Sources/SQLiteEngine/Tables/Migrations.swift")
        #expect(readme.contains("| data folder | format \(format) |"))
        for number in 1...(Int(format) ?? 1) {
            let fixture = SourceTree.root.appendingPathComponent("Tests/Fixtures/format-\(number).sqlite")
            #expect(FileManager.default.fileExists(atPath: fixture.path), "no fixture of format \(number)")
        }
    }

    /// SwiftPM writes `Package.resolved` before it builds this test.
    @Test(arguments: ["README.md", "Scripts/quickstart"])
    func `a document says how many packages the first build fetches`(path: String) throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: SourceTree.root.appendingPathComponent(path), encoding: .utf8)
        }
        let count = try text("Package.resolved").matches(of: /"identity" :/).count
        #expect(count > 5)
        #expect(try text(path).contains("\(count) packages"))
    }

    /// The last cell of a row names the row of the benchmark.
    @Test
    func `each figure of the capacity guide is one of the benchmarks`() throws {
        let guide = try Self.document("Sources/tidemark/Guides/Tuning.md")
        let rows = guide.text.matches(of: /\| ([\d,]+) [^|]*\| `([a-z-]+)` \|/)
        #expect(rows.count >= 10)
        let figures = try Self.document("Tests/Benchmarks/FIGURES.md").text
        let readme = try Self.document("README.md").text
        for row in rows { #expect(figures.contains("\n| `\(row.2)` | \(row.1) | "), "\(row.2)") }
        let saves = try #require(rows.first { $0.2 == "single-save" }).1
        #expect(readme.contains("\(saves) records a second"))
    }
}
