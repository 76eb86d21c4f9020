import Foundation

/// One Markdown file of the repository.
struct Document {
    /// From the root of the repository, with slashes.
    let path: String
    let text: String

    /// All Markdown files, except those of the build.
    static func all() throws -> [Document] { try self.read.get() }

    /// Read once for all tests.
    private static let read = Result { try Self.readAll() }

    private static func readAll() throws -> [Document] {
        var documents: [Document] = []
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
        for name in names.sorted() where !name.hasPrefix(".") {
            let url = SourceTree.root.appendingPathComponent(name)
            if name.hasSuffix(".md") {
                documents.append(Document(path: name, text: try String(contentsOf: url, encoding: .utf8)))
            }
            guard let paths = FileManager.default.enumerator(atPath: url.path) else { continue }
            for case let path as String in paths where path.hasSuffix(".md") {
                let text = try String(contentsOf: url.appendingPathComponent(path), encoding: .utf8)
                documents.append(Document(path: "\(name)/\(path)", text: text))
            }
        }
        return documents
    }

    enum LineKind {
        case text, heading, table, code
    }

    /// All lines with their numbers, from 1.
    ///
    /// A block of code is fenced, or indented after an empty line.
    var numberedLines: [(number: Int, kind: LineKind, line: Substring)] {
        var isInFence = false
        var isInIndentedBlock = false
        var isAfterEmptyLine = true
        let lines = self.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().map { index, line in
            defer { isAfterEmptyLine = line.isEmpty }
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isInFence.toggle()
                return (index + 1, .code, line)
            }
            if isInFence { return (index + 1, .code, line) }
            let isIndented = line.hasPrefix("    ")
            isInIndentedBlock = isIndented && (isInIndentedBlock || isAfterEmptyLine)
            if isInIndentedBlock { return (index + 1, .code, line) }
            if line.hasPrefix("|") { return (index + 1, .table, line) }
            return (index + 1, line.hasPrefix("#") ? .heading : .text, line)
        }
    }

    /// The lines outside of blocks of code.
    private var linesOfText: [Substring] {
        self.numberedLines.filter { $0.kind != .code }.map(\.line)
    }

    /// Words as an editor counts them.
    var wordCount: Int { self.text.split(whereSeparator: \.isWhitespace).count }

    /// The targets of links within the repository, as they are written.
    var links: [String] {
        self.linesOfText.flatMap { line in
            line.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)\s]+)\)/)
                .map { String($0.1) }.filter { !$0.contains("://") }
        }
    }

    /// The names of the headings, as in the part of a URL behind `#`.
    var anchors: [String] {
        var counts: [String: Int] = [:]
        return self.linesOfText.compactMap { line -> String? in
            guard let heading = line.wholeMatch(of: /#+ +(.*)/)?.1 else { return nil }
            let kept = heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
            let anchor = kept.replacing(" ", with: "-")
            let count = counts[anchor, default: 0]
            counts[anchor] = count + 1
            return count == 0 ? anchor : "\(anchor)-\(count)"
        }
    }

    /// Whether there is a file, and in it a heading if the link names one.
    static func leadsSomewhere(_ link: String, from document: Document) throws -> Bool {
        let parts = link.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
        let folder = SourceTree.root.appendingPathComponent(document.path).deletingLastPathComponent()
        let target = parts[0].isEmpty ? nil : folder.appendingPathComponent(parts[0])
        if let target, !FileManager.default.fileExists(atPath: target.path) { return false }
        guard parts.count == 2 else { return true }
        guard let target else { return document.anchors.contains(parts[1]) }
        let text = try String(contentsOf: target, encoding: .utf8)
        return Document(path: target.path, text: text).anchors.contains(parts[1])
    }
}
