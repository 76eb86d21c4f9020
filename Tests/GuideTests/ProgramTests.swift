import Foundation
import TestSupport
import Testing

/// The Swift blocks of the articles are regions of the files in this folder, which are compiled and run.
@Suite
struct ProgramTests {
    @Test(arguments: try Article.all())
    func `each Swift block of an article is a region of its program, and each region a block`(
        article: Article
    ) throws {
        let blocks = article.programs
        let regions = try MarkedRegion.all(in: article.program)
        #expect(!blocks.isEmpty)
        for (block, region) in zip(blocks, regions) { #expect(block == region) }
        #expect(blocks.count == regions.count)
    }

    /// A program without an article would prove nothing to a reader.
    @Test
    func `each program has an article`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let articles = Set(try Article.all().map(\.name))
        #expect(articles.count >= 8)
        let own = URL(fileURLWithPath: #filePath).lastPathComponent
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name != own {
            let file = folder.appendingPathComponent(name)
            let text = try String(contentsOf: file, encoding: .utf8)
            let hasRegion = text.split(separator: "\n").contains { line in
                line.drop { $0 == " " }.hasPrefix("// <block> ")
            }
            if hasRegion { #expect(articles.contains(String(name.dropLast(".swift".count))), "\(name)") }
        }
    }

    @Test(arguments: try Article.all())
    func `a line of code is at most 100 columns wide`(article: Article) {
        for line in article.blocks(in: "swift").flatMap({ $0.split(separator: "\n") }) {
            #expect(line.count <= 100, "\(line)")
        }
    }

    @Test
    func `a region loses its indentation and keeps the rest`() throws {
        let program = """
            struct Planted {
                // <block> One
                func a() {

                    b()
                }
                // </block>
            }
            // <block> Two words
            let c = "  d"
            // </block>
            """
        let regions = try MarkedRegion.all(in: program)
        #expect(regions.map(\.heading) == ["One", "Two words"])
        #expect(regions.map(\.text) == ["func a() {\n\n    b()\n}\n", "let c = \"  d\"\n"])
    }

    @Test(arguments: ["// <block> A\na\n// <block> B\n// </block>", "// </block>", "// <block> A\na"])
    func `marks that do not go together are refused`(program: String) {
        #expect(throws: MarkedRegion.Fault.self) { try MarkedRegion.all(in: program) }
    }
}
