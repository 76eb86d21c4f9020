/// A public function, initializer or subscript, and the comment above it.
private struct PublicMethod {
    /// From 1.
    let line: Int
    let name: Substring
    let parameterCount: Int
    let isThrowing: Bool
    /// The comment and the attributes, without indents, the last line first.
    let above: ArraySlice<Substring>

    static func all(in file: SourceFile) -> [PublicMethod] {
        var isInProtocol = false
        var methods: [PublicMethod] = []
        for index in file.codeLines.indices {
            let line = file.codeLines[index]
            if line.hasPrefix("public protocol ") { isInProtocol = true }
            if line.hasPrefix("}") || line.hasSuffix("{}") { isInProtocol = false }
            if let method = PublicMethod(in: file, at: index, isRequirement: isInProtocol) {
                methods.append(method)
            }
        }
        return methods
    }

    private init?(in file: SourceFile, at index: Int, isRequirement: Bool) {
        let declaration =
            /\s*(?:@\w+ )*((?:[a-z]+(?:\([a-z]+\))? )*)(func [A-Za-z]\w*|init|subscript)\b/
        let line = file.codeLines[index]
        guard isRequirement || line.contains("public ") || line.contains("open "),
            let match = line.prefixMatch(of: declaration)
        else {
            return nil
        }
        let modifiers = Words.identifiers(in: match.1)
        guard isRequirement || modifiers.contains("public") || modifiers.contains("open"),
            !modifiers.contains("override")
        else {
            return nil
        }
        let lines = [line[match.range.upperBound...]] + file.codeLines[(index + 1)...].prefix(60)
        let code = lines.joined(separator: "\n")
        // The compiler makes and calls these two.
        if code.hasPrefix("(from decoder:") || code.hasPrefix("(to encoder:") { return nil }
        guard let signature = Self.signature(of: code) else { return nil }
        self.line = index + 1
        self.name = match.2
        self.parameterCount = signature.parameterCount
        self.isThrowing = signature.isThrowing
        self.above = file.lines[..<index].reversed().map { text in text.drop { $0 == " " } }
            .prefix { $0.hasPrefix("//") || $0.hasPrefix("@") }
    }

    /// Counts parameters by their colons, and looks for `throws` in the line that ends their list.
    private static func signature(of code: String) -> (parameterCount: Int, isThrowing: Bool)? {
        var depth = 0
        var count = 0
        for index in code.indices {
            switch code[index] {
            case "(", "[": depth += 1
            case ")", "]":
                depth -= 1
                guard depth == 0 else { continue }
                let words = Words.identifiers(in: code[index...].prefix { $0 != "\n" })
                return (count, words.contains("throws") || words.contains("rethrows"))
            case ":" where depth == 1: count += 1
            default: break
            }
        }
        return nil
    }

    func has(_ entry: String) -> Bool { self.above.contains { $0.hasPrefix("/// - \(entry):") } }
}

extension Rules {
    /// Each public method of the SDK explains two or more parameters, and the errors that it throws.
    ///
    /// Overrides, operators, names with an underscore, old spellings and `Codable` need no
    /// explanation. One parameter has one where it says more than the name and the type.
    @Sendable
    static func entriesOfMethods(_ file: SourceFile) -> [Offence] {
        let folders = ["Clients/CloudKit", "Clients/CloudKitTesting", "Clients/CoreLocation"]
        guard folders.contains(file.targetFolder) else { return [] }
        return PublicMethod.all(in: file).flatMap { method -> [Offence] in
            if method.above.contains(where: { $0.contains("renamed:") }) { return [] }
            var missing: [String] = []
            if method.parameterCount > 1, !method.has("Parameters") { missing.append("Parameters") }
            if method.isThrowing, !method.has("Throws") { missing.append("Throws") }
            return missing.map { entry in
                let advice = "'\(method.name)' has no '- \(entry):' in its comment"
                return Offence(path: file.path, line: method.line, advice: advice)
            }
        }
    }
}
