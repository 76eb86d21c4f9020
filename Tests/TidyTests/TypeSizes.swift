/// How many lines a type has over all its declarations and extensions in a module.
///
/// A line belongs to the innermost type around it, so a nested type counts by itself. Comments between
/// declarations count; the documentation above the type's own first line does not.
///
/// In the SDK no documentation counts. Apple prescribes which methods a type there has, so it cannot be
/// cut, and each of the methods that everybody uses has a table of errors.
struct TypeSizes {
    struct Name: Hashable {
        /// The folder of the target.
        let module: String
        /// With the names of the types around it.
        let name: String
    }

    private(set) var lineCounts: [Name: Int] = [:]
    /// Where a type was met first.
    private(set) var paths: [Name: String] = [:]

    static let lineCountMax = 800
    /// Types whose methods somebody else prescribes.
    private static let prescribedModule = "Clients/CloudKit"

    init(of files: [SourceFile]) {
        for file in files where !file.isMarkedTable { self.add(file) }
    }

    private mutating func add(_ file: SourceFile) {
        /// The types around a line, each with the depth of the braces outside of it.
        var types: [(name: String, depth: Int)] = []
        /// A declaration whose brace has not come yet.
        var pending: String?
        var depth = 0
        let withDocumentation = file.targetFolder != Self.prescribedModule
        for (index, line) in file.codeLines.enumerated() {
            if let declared = Self.declaredType(in: line) {
                pending = declared
            }
            var innermost = types.last?.name
            for character in line.utf8 {
                if character == UInt8(ascii: "{") {
                    if let name = pending {
                        let outer = types.last.map { $0.name + "." } ?? ""
                        types.append((outer + name, depth))
                        innermost = outer + name
                        pending = nil
                    }
                    depth += 1
                } else if character == UInt8(ascii: "}") {
                    depth -= 1
                    if let last = types.last, last.depth == depth { types.removeLast() }
                }
            }
            guard let innermost else { continue }
            let isDocumentation = file.lines[index].drop { $0 == " " }.hasPrefix("///")
            guard withDocumentation || !isDocumentation else { continue }
            let name = Name(module: file.targetFolder, name: innermost)
            self.lineCounts[name, default: 0] += 1
            self.paths[name] = self.paths[name] ?? file.path
        }
    }

    /// The name behind `struct`, `extension` and their like.
    private static func declaredType(in line: Substring) -> String? {
        let words = line.split { $0 == " " || $0 == "{" || $0 == ":" || $0 == "<" }
        let keywords = ["struct", "class", "enum", "actor", "protocol", "extension"]
        let modifiers = [
            "public", "package", "internal", "private", "fileprivate", "open", "final", "indirect",
            "nonisolated", "distributed",
        ]
        let declaration = words.drop { modifiers.contains(String($0)) || $0.hasPrefix("@") }
        guard let keyword = declaration.first, keywords.contains(String(keyword)) else { return nil }
        guard let name = declaration.dropFirst().first, !["func", "var", "let"].contains(name) else {
            return nil
        }
        return String(name)
    }
}

extension Rules {
    /// A class in twelve files is no smaller than a class in three.
    static func typeSizes(_ files: [SourceFile]) -> [Offence] {
        let sizes = TypeSizes(of: files)
        return sizes.lineCounts.filter { $0.value > TypeSizes.lineCountMax }.map { name, count in
            Offence(
                path: sizes.paths[name] ?? name.module,
                line: 1,
                advice:
                    "\(name.name) has \(count) lines, at most \(TypeSizes.lineCountMax): cut along a concept"
            )
        }
    }

    /// The second copy becomes a declaration that both use.
    static func identicalFiles(_ files: [SourceFile]) -> [Offence] {
        Dictionary(grouping: files) { $0.lines }.values.filter { $0.count > 1 }.flatMap { copies in
            copies.dropFirst().map {
                Offence(path: $0.path, line: 1, advice: "the same as \(copies[0].path): keep one")
            }
        }
    }
}
