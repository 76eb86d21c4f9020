import Foundation
import TestSupport

/// The README of the repository, cut into what a reader copies out of it.
struct Readme {
    struct Block: Hashable {
        let language: String
        let text: String
    }

    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The fenced blocks, in order.
    let blocks: [Block]

    init() throws {
        let file = Self.repository.appendingPathComponent("README.md")
        self.init(text: try String(contentsOf: file, encoding: .utf8))
    }

    init(text: String) {
        var blocks: [Block] = []
        var open: (language: String, text: String)?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let block = open { blocks.append(Block(language: block.language, text: block.text)) }
                open = open == nil ? (String(line.dropFirst(3)), "") : nil
            } else {
                open?.text += line + "\n"
            }
        }
        self.blocks = blocks
    }

    func blocks(in language: String) -> [Block] { self.blocks.filter { $0.language == language } }

    /// What a reader pastes into a shell: the lines of all `sh` blocks, in order, but those that
    /// build.
    ///
    /// A line that builds begins with `swift build` or `Scripts/`, and does nothing else. The build
    /// is there when tests run, and `QuickstartTests` run the script.
    var pastedLines: [String] {
        self.blocks(in: "sh")
            .flatMap { $0.text.split(separator: "\n").map(String.init) }
            .filter { !$0.hasPrefix("swift build") && !$0.hasPrefix("Scripts/") }
    }
}
