import Foundation
import Testing

/// Each statement of the README has evidence, or a reason why it can have none.
@Suite
struct ReadmeEvidenceTests {
    private static func readme() throws -> Document {
        try #require(try Document.all().first { $0.path == "README.md" })
    }

    private static func sentences() throws -> Set<Substring> { try self.known.get() }

    /// The sentences of all tests, between their backticks; read once.
    private static let known = Result<Set<Substring>, any Error> {
        Set(
            try SourceTree.files().filter(\.isTest).flatMap(\.lines).filter { $0.contains("`(") }
                .compactMap { $0.split(separator: "`", omittingEmptySubsequences: false).dropFirst().first }
        )
    }

    @Test
    func `each statement of the README has a row of evidence, and each row a statement`() throws {
        let faults = Self.faults(of: try Self.readme().statements, ReadmeEvidence.all)
        #expect(faults.isEmpty, "See ReadmeEvidence.swift: \(faults.joined(separator: "\n"))")
    }

    private static func faults(of statements: [String], _ rows: [ReadmeEvidence]) -> [String] {
        var used = [Int](repeating: 0, count: rows.count)
        var faults: [String] = []
        for statement in statements {
            let found = rows.indices.filter { statement.hasPrefix(rows[$0].beginning) }
            // Statements may repeat: each takes the next row.
            guard let row = found.first(where: { used[$0] == 0 }) else {
                faults.append("no evidence for: \(statement.prefix(80))")
                continue
            }
            used[row] += 1
        }
        faults += rows.indices.filter { used[$0] == 0 }.map { "no such statement: \(rows[$0].beginning)" }
        return faults
    }

    @Test(arguments: ReadmeEvidence.all.indices)
    func `the evidence for a statement of the README holds`(index: Int) throws {
        let row = ReadmeEvidence.all[index]
        #expect(!row.evidence.isEmpty, "\(row.beginning)")
        let statement = try #require(
            try Self.readme().statements.first { $0.hasPrefix(row.beginning) },
            "\(row.beginning)"
        )
        for evidence in row.evidence {
            let fault = try Self.fault(of: evidence, for: statement)
            #expect(fault == nil, "\(statement.prefix(80)): \(fault ?? "")")
        }
    }

    private static func fault(of evidence: Evidence, for statement: String) throws -> String? {
        switch evidence {
        case .tests(let names):
            let known = try self.sentences()
            return names.first { !known.contains($0[...]) }.map { "no test '\($0)'" }
        case .rule(let name): return try self.sentences().contains(name[...]) ? nil : "no test '\(name)'"
        case .text(let text, let path):
            let file = SourceTree.root.appendingPathComponent(path)
            let lines = try String(contentsOf: file, encoding: .utf8)
            return lines.contains(text) ? nil : "'\(text)' is not in \(path)"
        case .absent(let text):
            let file = try SourceTree.files().first { file in
                !file.isTest && file.lines.contains { $0.contains(text) }
            }
            return file.map { "'\(text)' is in \($0.path)" }
        case .figures(let figures):
            let text = statement.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return try figures(ReadmeFigures()).first { !text.contains($0) }.map { "it lacks '\($0)'" }
        case .exempt(let reason): return reason.count > 20 ? nil : "an exemption without a reason"
        }
    }

    /// The guide has the ratios and the latency of the README's paragraph, and more.
    @Test
    func `the text of the capacity guide has the figures of the benchmarks`() throws {
        let guide = try #require(
            try Document.all().first { $0.path == "Sources/tidemark/Guides/Tuning.md" }
        )
        let text = guide.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let figures = ReadmeFigures()
        for figure in try figures.comparison() + figures.sizes() {
            #expect(text.contains(figure), "\(figure)")
        }
    }

    @Test
    func `statements are sentences, rows of tables and blocks of code`() {
        let text = """
            # Heading

            ![A picture.](p.png)
            One is `a.b`. Two
            has [a link](x.md).

            | head | er |
            |---|---|
            | three | four. Five. |

            ```sh
            six --seven
            ```
            """
        #expect(
            Document(path: "planted.md", text: text).statements == [
                "One is `a.b`.", "Two has [a link](x.md).", "| three | four. Five. |", "```sh six --seven",
            ]
        )
    }

    @Test
    func `a statement without evidence is found, and so is evidence that does not hold`() throws {
        let rows = [ReadmeEvidence("One", .exempt("no")), ReadmeEvidence("Three")]
        #expect(
            Self.faults(of: ["One is one.", "Two is two."], rows)
                == ["no evidence for: Two is two.", "no such statement: Three"]
        )
        let wrong: [Evidence] = [
            .test("no such test"), .rule("no such rule"), .text("no such text", in: "LICENSE"),
            .absent("import Foundation"), .exempt("because"),
            .figures { try $0.saves().map { $0 + " more" } },
        ]
        let saves = try #require(try Self.readme().statements.first { $0.hasPrefix("On two cores") })
        for evidence in wrong { #expect(try Self.fault(of: evidence, for: saves) != nil, "\(evidence)") }
    }
}

extension Document {
    /// Sentences, rows of tables and blocks of code, each on one line, in order.
    var statements: [String] {
        var statements: [String] = []
        var lines: [Substring] = []
        var code: [Substring]?
        var tableRows = 0
        func endParagraph() {
            let text = lines.joined(separator: " ")
            lines = []
            var start = text.startIndex
            for end in text.matches(of: /[.?!][)*_]*\s/) {
                statements.append(text[start..<end.range.upperBound].trimmingCharacters(in: .whitespaces))
                start = end.range.upperBound
            }
            if start < text.endIndex { statements.append(String(text[start...])) }
        }
        for (_, kind, line) in self.numberedLines {
            if kind != .text || line.isEmpty { endParagraph() }
            if kind != .table { tableRows = 0 }
            switch kind {
            // A picture states nothing; that it exists is a rule of links.
            case .text where line.hasPrefix("!["): break
            case .text where !line.isEmpty: lines.append(line.trimmingPrefix { $0 == " " })
            case .table:
                tableRows += 1
                // Header and rule come first.
                if tableRows > 2 { statements.append(String(line)) }
            case .code where line.hasPrefix("```"):
                if let block = code {
                    statements.append(block.joined(separator: " "))
                    code = nil
                } else {
                    code = [line]
                }
            case .code:
                let words = line.split(separator: " ")
                if words.contains(where: { $0.contains(where: \.isLetter) }) {
                    code?.append(words.joined(separator: " ")[...])
                }
            case .text, .heading: break
            }
        }
        endParagraph()
        return statements
    }
}
