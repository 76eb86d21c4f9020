import Foundation
import Testing

@Suite
struct DocumentTests {
    @Test
    func `every link in a document leads somewhere`() throws {
        let documents = try Document.all()
        #expect(documents.contains { $0.path == "Sources/tidemark/README.md" })
        let links = documents.flatMap { document in document.links.map { (document, $0) } }
        #expect(links.count > 20)
        for (document, link) in links {
            #expect(try Document.leadsSomewhere(link, from: document), "\(document.path): \(link)")
        }
    }

    /// An afternoon is enough for them.
    @Test
    func `the reading path has at most 6,000 lines, and no file twice`() throws {
        let document = try #require(try Document.all().first { $0.path == "Sources/READING.md" })
        let paths = document.links.filter { $0.hasSuffix(".swift") }.map { "Sources/\($0)" }
        #expect(paths.count > 30 && Set(paths).count == paths.count)
        let lines = try SourceTree.files().filter { paths.contains($0.path) }.map(\.lines.count)
        #expect(lines.count == paths.count)
        #expect(lines.reduce(0, +) <= 6_000)
    }

    /// There a test is named by its sentence, between quotation marks.
    @Test
    func `each test that the table of bugs names exists`() throws {
        let document = try #require(try Document.all().first { $0.path == "Tests/BUGS.md" })
        let rows = document.numberedLines.filter { $0.kind == .table }.dropFirst(2)
        #expect(rows.count > 90)
        let sentences = Set(
            try SourceTree.files().filter(\.isTest).flatMap(\.lines).filter { $0.contains("`(") }
                .compactMap { $0.split(separator: "`", omittingEmptySubsequences: false).dropFirst().first }
        )
        for row in rows {
            let cell = row.line.split(separator: " | ").last ?? ""
            for name in cell.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            where name.offset % 2 == 1 {
                #expect(sentences.contains(name.element), "\(document.path):\(row.number): \(name.element)")
            }
        }
    }

    @Test
    func `links are found in the text alone, and anchors are those of the headings`() {
        let text = """
            # One: `two` & three
            ## One: `two` & three
            [a](#b) and [c `d`](e/f.md), ![g](h.png)
            ```sh
            # no heading
            [i](j)
            ```
            `[k](l)` [m](https://example.org)
            """
        let document = Document(path: "planted.md", text: text)
        #expect(document.links == ["#b", "e/f.md", "h.png"])
        #expect(document.anchors == ["one-two--three", "one-two--three-1"])
    }

    @Test(arguments: ["#no-such-heading", "no-such-file.md", "Tests/README.md#no-such-heading"])
    func `a link that leads nowhere is found`(link: String) throws {
        #expect(try !Document.leadsSomewhere(link, from: Document(path: "planted.md", text: "# Heading")))
    }
}
