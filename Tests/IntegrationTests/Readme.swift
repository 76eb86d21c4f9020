import Foundation
import TestSupport

/// The README of the repository and the first article, cut into what a reader copies out of them.
struct Readme {
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The fenced blocks, in order.
    let blocks: [FencedBlock]

    init() throws {
        let file = Self.repository.appendingPathComponent("README.md")
        self.blocks = FencedBlock.all(in: try String(contentsOf: file, encoding: .utf8))
    }

    func blocks(in language: String) -> [FencedBlock] { self.blocks.filter { $0.language == language } }

    /// What a reader of the first article pastes into a shell: the lines of its `sh` blocks, in order, but
    /// the one that builds.
    ///
    /// The build is there when tests run, and `QuickstartTests` run the README's script.
    static func pastedLines() throws -> [String] {
        let article = Self.repository
            .appendingPathComponent("Clients/CloudKit/Documentation.docc/GettingStarted.md")
        return FencedBlock.all(in: try String(contentsOf: article, encoding: .utf8))
            .filter { $0.language == "sh" }
            .flatMap { $0.text.split(separator: "\n").map(String.init) }
            .filter { $0 != "swift build" }
    }
}
