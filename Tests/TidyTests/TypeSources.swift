extension Rules {
    /// Each top-level public type of the SDK says whose it is; those with an underscore are no API.
    @Sendable
    static func sourcesOfTypes(_ file: SourceFile) -> [Offence] {
        guard ["Clients/CloudKit", "Clients/CoreLocation"].contains(file.targetFolder) else { return [] }
        let declaration =
            /(?:public|open) (?:final |indirect )*(?:class|struct|enum|protocol|actor) ([A-Z]\w*)/
        return file.codeLines.indices.compactMap { index in
            guard let type = file.codeLines[index].prefixMatch(of: declaration)?.1 else { return nil }
            let above = file.lines[..<index].reversed().prefix { $0.hasPrefix("//") || $0.hasPrefix("@") }
            let source = /\/\/\/ - Source: (?:Apple's `|beyond Apple\.|https:\/\/developer\.apple\.com\/)/
            if above.contains(where: { $0.prefixMatch(of: source) != nil }) { return nil }
            return Offence(
                path: file.path,
                line: index + 1,
                advice: "'\(type)' has no '- Source: Apple's `\(type)`.' or '- Source: beyond Apple.'"
            )
        }
    }
}
