import Foundation
import Testing

@Suite
struct TidyTests {
    @Test
    func `the repository follows the house style`() throws {
        let files = try SourceTree.files()
        // A walk that finds nothing would praise everything.
        #expect(files.count > 50)
        #expect(files.contains { $0.path == "Tests/TidyTests/TidyTests.swift" })
        let offences = files.flatMap { file in Rules.all.flatMap { $0(file) } }
        #expect(offences.isEmpty, "\n\(offences.map(\.description).joined(separator: "\n"))")
    }

    @Test(arguments: SourceTree.topFolders + ["."])
    func `each top folder has a README`(folder: String) {
        let path = SourceTree.root.appendingPathComponent(folder).appendingPathComponent("README.md").path
        #expect(FileManager.default.fileExists(atPath: path), "\(folder)/README.md is missing")
    }

    @Test
    func `each source folder has a row in the architecture`() throws {
        let folders = Set(try SourceTree.files().filter { !$0.isTest }.map(\.targetFolder))
        let rows = Set(Architecture.rows.map(\.folder))
        #expect(folders.subtracting(rows).isEmpty)
    }

    /// These pages name a test by its file and its sentence, in one pair of backticks that may span lines.
    @Test
    func `each test that the pages of differences name exists`() throws {
        let pages = try Document.all().filter { $0.path.hasPrefix("Clients/Differences/") }
        #expect(pages.count >= 10)
        let named = pages.flatMap { page in
            page.text.replacing(/\n +/, with: " ").matches(of: /`(\w+Tests): ([^`]+)`/)
        }
        #expect(named.count > 200)
        let files = try SourceTree.files().filter(\.isTest)
        for test in named {
            let isThere = files.contains { file in
                file.name == "\(test.1).swift" && file.lines.contains { $0.contains("func `\(test.2)`") }
            }
            #expect(isThere, "\(test.1): \(test.2)")
        }
    }
}
