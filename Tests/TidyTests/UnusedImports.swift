/// Names that a module of ours shows to those that import it.
///
/// A name is taken from the line that declares it, at the level of a file or of a type: `func`, `var`,
/// `struct` and their like with `package` or `public`, cases of such an enum and requirements of such a
/// protocol. A `@testable` import sees everything that is not private.
struct ExportedNames {
    private(set) var packageNames: Set<Substring> = []
    private(set) var testableNames: Set<Substring> = []

    private enum Scope {
        case `enum`, `protocol`, type, code
    }

    private static let declaring: Set<Substring> = [
        "func", "var", "let", "struct", "class", "enum", "protocol", "typealias", "actor", "associatedtype",
    ]

    init(of files: [SourceFile]) {
        for file in files { self.add(file) }
    }

    private mutating func add(_ file: SourceFile) {
        var scopes: [(scope: Scope, isExported: Bool)] = []
        for line in file.codeLines {
            let words = Words.identifiers(in: line)
            let isPrivate = words.contains("private") || words.contains("fileprivate")
            let isExported = words.contains("package") || words.contains("public") || words.contains("open")
            var opened: Scope?
            if !scopes.contains(where: { $0.scope == .code }) {
                let isMember = scopes.last.map { $0.isExported && $0.scope != .type } ?? false
                let names = Self.declaredNames(in: words)
                if !isPrivate || words.contains("set") { self.testableNames.formUnion(names) }
                if isExported || isMember { self.packageNames.formUnion(names) }
                opened = Self.openedScope(by: words)
            }
            for byte in line.utf8 {
                if byte == UInt8(ascii: "{") {
                    scopes.append((opened ?? .code, isExported))
                    opened = nil
                } else if byte == UInt8(ascii: "}") {
                    _ = scopes.popLast()
                }
            }
        }
    }

    private static func declaredNames(in words: [Substring]) -> [Substring] {
        if words.first == "case" || words.starts(with: ["indirect", "case"]) { return words }
        return zip(words, words.dropFirst()).filter { Self.declaring.contains($0.0) }.map(\.1)
    }

    private static func openedScope(by words: [Substring]) -> Scope? {
        guard let keyword = words.first(where: { Self.declaring.contains($0) || $0 == "extension" }) else {
            return nil
        }
        return switch keyword {
        case "enum": .enum
        case "protocol": .protocol
        case "struct", "class", "actor", "extension": .type
        default: nil
        }
    }
}

extension Rules {
    /// An import of a module of ours in a file that mentions none of its names.
    ///
    /// This is decided by words alone, so it sees only imports that are unused beyond doubt. It cannot
    /// see one whose names are also names of something else in the file, nor an unused import of a module
    /// that is not ours. Whether a file needs a module for a conformance or a literal only, without
    /// naming anything, no rule about words can tell; no file of ours does.
    static func unusedImports(_ files: [SourceFile]) -> [Offence] {
        let modules = Dictionary(grouping: files.filter { !$0.isTest }, by: \.moduleName)
            .mapValues { ExportedNames(of: $0) }
        return files.flatMap { file -> [Offence] in
            let ours = file.imports.filter { modules[$0.module] != nil }
            if ours.isEmpty || file.isMarkedTable { return [] }
            let words = Set(
                file.codeLines.filter { !Words.contains($0, "import") }.flatMap { Words.identifiers(in: $0) }
            )
            return ours.compactMap { module, line in
                let importLine = file.codeLines[line - 1]
                guard let names = modules[module], !importLine.contains("@_exported") else { return nil }
                let isTestable = importLine.contains("@testable")
                guard words.isDisjoint(with: isTestable ? names.testableNames : names.packageNames) else {
                    return nil
                }
                return Offence(
                    path: file.path,
                    line: line,
                    advice: "nothing of \(module) is named: no import"
                )
            }
        }
    }
}
