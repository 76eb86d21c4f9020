import Foundation
import TestSupport
import Testing

/// An article of the catalogue, and the file beside this one that has its programs.
struct Article: Sendable, CustomTestStringConvertible {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let catalogue = Self.root.appendingPathComponent("Clients/CloudKit/Documentation.docc")

    /// The file's name without its suffix.
    let name: String
    let text: String

    var testDescription: String { self.name }

    /// All articles, without the landing page.
    static func all() throws -> [Article] {
        try FileManager.default.contentsOfDirectory(atPath: self.catalogue.path)
            .filter { $0.hasSuffix(".md") && $0 != "CloudKit.md" }.sorted()
            .map { try self.named(String($0.dropLast(".md".count))) }
    }

    static func named(_ name: String) throws -> Article {
        let file = self.catalogue.appendingPathComponent("\(name).md")
        return Article(name: name, text: try String(contentsOf: file, encoding: .utf8))
    }

    func blocks(in language: String) -> [String] {
        FencedBlock.all(in: self.text).filter { $0.language == language }.map(\.text)
    }

    /// The Swift blocks, each with the heading above it.
    var programs: [MarkedRegion] {
        FencedBlock.all(in: self.text).filter { $0.language == "swift" }.map { block in
            let before = self.text.split(separator: "\n", omittingEmptySubsequences: false).prefix(block.line)
            let heading = before.last { $0.hasPrefix("## ") }?.dropFirst("## ".count) ?? ""
            return MarkedRegion(heading: String(heading), text: block.text)
        }
    }

    /// The program of the article: it has each Swift block between two marks, in order.
    var program: String {
        get throws {
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            let file = folder.appendingPathComponent("\(self.name).swift")
            return try String(contentsOf: file, encoding: .utf8)
        }
    }
}

/// A program, or a part of one, and the heading below which an article shows it.
struct MarkedRegion: Equatable {
    let heading: String
    let text: String

    enum Fault: Error, Equatable {
        /// A mark begins inside a region, or ends none.
        case unbalanced(line: Int)
    }

    /// What stands in a Swift file between the marks `// <block> HEADING` and `// </block>`, less its
    /// indentation.
    static func all(in program: String) throws(Fault) -> [MarkedRegion] {
        var regions: [MarkedRegion] = []
        var open: (heading: String, lines: [Substring])?
        let lines = program.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("// <block> ") {
                guard open == nil else { throw .unbalanced(line: index + 1) }
                open = (String(text.dropFirst("// <block> ".count)), [])
            } else if text == "// </block>" {
                guard let region = open else { throw .unbalanced(line: index + 1) }
                regions.append(MarkedRegion(heading: region.heading, text: self.dedented(region.lines)))
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        if open != nil { throw .unbalanced(line: lines.count) }
        return regions
    }

    private static func dedented(_ lines: [Substring]) -> String {
        let indentation = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { "\($0.dropFirst(indentation))\n" }.joined()
    }
}
