import Foundation
import TestSupport
import Testing

/// The catalogue, as the toolchain's own compiler of documentation sees it.
@Suite(.timeLimit(.minutes(10)))
struct CatalogueTests {
    /// It warns of each link to an article or symbol that it can't resolve, in articles and in comments.
    @Test
    func `the documentation of CloudKit compiles without a warning`() async throws {
        let symbols = try TemporaryDirectory()
        try await Documentation.extractSymbols(to: symbols.path)
        let outcome = try await Documentation.compile(Article.catalogue.path, symbols: symbols.path)
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
    }

    @Test(arguments: ["<doc:NoSuchArticle>", "``CKNoSuchType``", "``CKDatabase/noSuchMethod(_:)``"])
    func `a link that leads nowhere is a warning`(link: String) async throws {
        let symbols = try TemporaryDirectory()
        try await Documentation.extractSymbols(to: symbols.path)
        let catalogue = "\(symbols.path)/Planted.docc"
        try FileManager.default.createDirectory(atPath: catalogue, withIntermediateDirectories: true)
        try "# Planted\n\nA text with \(link).\n"
            .write(toFile: "\(catalogue)/Planted.md", atomically: false, encoding: .utf8)
        let outcome = try await Documentation.compile(catalogue, symbols: symbols.path)
        #expect(outcome.exitCode != 0)
        #expect((outcome.output + outcome.errors).contains("Planted.md:3"))
    }

    /// Apple's names are explained there where they mean something else.
    @Test
    func `each page of differences has an article that leads to it`() throws {
        let folder = Article.root.appendingPathComponent("Clients/Differences")
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".md") }
        #expect(pages.count > 8)
        let articles = try Article.all() + [Article.named("CloudKit")]
        for page in pages {
            #expect(articles.contains { $0.text.contains("](../../Differences/\(page)") }, "\(page)")
        }
    }

    @Test
    func `each article is among the topics of the landing page`() throws {
        let page = try Article.named("CloudKit").text
        let topics = try #require(page.firstRange(of: "\n## Topics\n"))
        let named = page[topics.upperBound...].matches(of: /\n- <doc:(\w+)>/).map { String($0.1) }
        #expect(named.count == Set(named).count)
        #expect(Set(named) == Set(try Article.all().map(\.name)))
    }
}

/// `docc`, and the symbols of the module that the build of this test made.
enum Documentation {
    static func extractSymbols(to folder: String) async throws {
        let build = ChildProcess.buildFolder
        // The build is at SCRATCH/TRIPLE/CONFIGURATION, and the sources of packages at SCRATCH/checkouts.
        let triple = build.deletingLastPathComponent()
        let checkouts = triple.deletingLastPathComponent().appendingPathComponent("checkouts")
        let maps =
            try self.moduleMaps(in: build) { $0.count == 2 && $0[0].hasSuffix(".build") }
            + self.moduleMaps(in: checkouts) { $0.contains("include") && !$0.contains("Tests") }
            + self.moduleMaps(in: Article.root.appendingPathComponent("Sources")) {
                $0.count == 2 && $0[0] == "CLibCrypto"
            }
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "swift", "symbolgraph-extract", "-module-name", "CloudKit", "-target",
                triple.lastPathComponent, "-I", build.appendingPathComponent("Modules").path,
                "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder,
            ] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        )
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
    }

    static func compile(_ catalogue: String, symbols: String) async throws -> ChildProcess.Outcome {
        let output = try TemporaryDirectory()
        return try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "docc", "convert", catalogue, "--additional-symbol-graph-dir", symbols,
                "--fallback-display-name", "CloudKit", "--fallback-bundle-identifier", "tidemark.CloudKit",
                "--output-path", "\(output.path)/archive", "--warnings-as-errors",
            ]
        )
    }

    /// The compiler needs those of the C targets on which the module depends.
    private static func moduleMaps(
        in folder: URL,
        where isNeeded: (_ parts: [Substring]) -> Bool
    ) throws -> [String] {
        let paths = FileManager.default.enumerator(atPath: folder.path)
        var maps: [String] = []
        while let path = paths?.nextObject() as? String {
            guard path.hasSuffix("/module.modulemap"), isNeeded(path.split(separator: "/")) else { continue }
            maps.append(folder.appendingPathComponent(path).path)
        }
        try #require(!maps.isEmpty, "\(folder.path)")
        return maps
    }
}
