import Foundation
import Testing

/// The examples in doc comments, which compile because `DocumentedExamples.swift` has them.
@Suite
struct DocumentedExampleTests {
    @Test
    func `each example in a doc comment is compiled`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("DocumentedExamples.swift")
        let program = Self.trimmed(try String(contentsOf: file, encoding: .utf8))
        let examples = try Self.examples()
        #expect(examples.count >= 25)
        for example in examples { #expect(program.contains(example), "\(example)") }
    }

    private static func examples() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let folder = root.appendingPathComponent("Clients/CloudKit")
        let paths = try #require(FileManager.default.enumerator(atPath: folder.path))
        var examples: [String] = []
        for case let path as String in paths where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            let comments = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasPrefix("///") }.map { String($0.dropFirst(3)) }
            let parts = comments.joined(separator: "\n").components(separatedBy: "```swift\n")
            examples += try parts.dropFirst().map { part in
                Self.trimmed(try #require(part.components(separatedBy: "```").first))
            }
        }
        return examples
    }

    /// The lines without indentation, and without empty ones.
    private static func trimmed(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .joined(separator: "\n")
    }
}
