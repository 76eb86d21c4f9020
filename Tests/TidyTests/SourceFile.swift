import Foundation

/// One Swift file of the repository.
struct SourceFile {
    /// From the root of the repository, with slashes.
    let path: String
    let lines: [Substring]
    /// The same lines with comments, text literals and names in backticks blanked out.
    let codeLines: [Substring]
    /// The same lines with everything but comments blanked out.
    let commentLines: [Substring]

    init(path: String, text: String) {
        self.path = path
        self.lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let (code, comments) = CodeBlanking.separated(text)
        self.codeLines = code.split(separator: "\n", omittingEmptySubsequences: false)
        self.commentLines = comments.split(separator: "\n", omittingEmptySubsequences: false)
    }

    var name: String { String(self.path.split(separator: "/").last ?? "") }

    var isTest: Bool { self.path.hasPrefix("Tests/") }

    /// The folder of its target, as in the manifest.
    var targetFolder: String { Self.targetFolder(of: self.path) }

    static func targetFolder(of path: String) -> String {
        let parts = path.split(separator: "/").dropLast()
        let depth = parts.dropFirst().first == "Examples" ? 3 : 2
        return parts.prefix(depth).joined(separator: "/")
    }

    /// The last part of its target's folder, which is the module's name in `Protocol/`, `Sources/` and
    /// `Clients/`.
    var moduleName: String { String(self.targetFolder.split(separator: "/").last ?? "") }

    /// Imported modules with their line numbers, from 1.
    var imports: [(module: String, line: Int)] {
        self.codeLines.enumerated().compactMap { index, line in
            let words = line.split(separator: " ")
            guard let position = words.firstIndex(of: "import") else { return nil }
            let modifiers = ["package", "public", "internal", "private", "fileprivate"]
            guard words[..<position].allSatisfy({ modifiers.contains(String($0)) || $0.hasPrefix("@") })
            else {
                return nil
            }
            let kinds = ["struct", "class", "enum", "protocol", "func", "typealias", "var", "let", "actor"]
            let rest = words[(position + 1)...].drop { kinds.contains(String($0)) }
            guard let module = rest.first?.split(separator: ".").first else { return nil }
            return (String(module), index + 1)
        }
    }

    /// Whether the first line says that the file is generated.
    var isGenerated: Bool { self.lines.first?.hasPrefix("// DO NOT EDIT.") == true }

    /// Whether the first line says that the file is generated, or that it is a table.
    var isMarkedTable: Bool { self.isGenerated || self.lines.first?.hasPrefix("// A table") == true }
}

/// The Swift files below the four folders.
enum SourceTree {
    static let topFolders = ["Protocol", "Sources", "Clients", "Tests"]

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func files() throws -> [SourceFile] { try self.read.get() }

    /// Read once for all tests.
    private static let read = Result { try Self.readFiles() }

    private static func readFiles() throws -> [SourceFile] {
        var files: [SourceFile] = []
        for folder in Self.topFolders {
            let url = Self.root.appendingPathComponent(folder)
            guard let paths = FileManager.default.enumerator(atPath: url.path) else { continue }
            for case let path as String in paths where path.hasSuffix(".swift") {
                let text = try String(contentsOf: url.appendingPathComponent(path), encoding: .utf8)
                files.append(SourceFile(path: "\(folder)/\(path)", text: text))
            }
        }
        return files.sorted { $0.path < $1.path }
    }
}
