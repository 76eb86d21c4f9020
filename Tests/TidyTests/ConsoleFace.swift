/// The console calls operations with plain parameters, and knows no type of a command line.
///
/// The properties of such a type that nothing was parsed for stop the process when they are read.
enum ConsoleFace {
    static let folder = "Sources/tidemark/Console/"

    /// The types of the program into which command lines are parsed.
    static func parsedTypes(in files: [SourceFile]) -> Set<String> {
        let declaration = /(?:struct|final class|class|enum|extension) (\w+)(?:<[^>]*>)?: (.*)/
        let parsed = /\b(?:ParsableArguments|ParsableCommand|AsyncParsableCommand)\b/
        return Set(
            files.filter { $0.targetFolder == "Sources/tidemark" }.flatMap(\.codeLines).compactMap { line in
                guard let match = line.firstMatch(of: declaration), match.2.contains(parsed) else {
                    return nil
                }
                return String(match.1)
            }
        )
    }

    static func offences(in files: [SourceFile]) -> [Offence] {
        let parsed = self.parsedTypes(in: files)
        return files.filter { $0.path.hasPrefix(self.folder) }.flatMap { file in
            file.codeLines.enumerated().compactMap { index, line in
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
                guard let word = words.first(where: { parsed.contains($0) || $0 == "ArgumentParser" }) else {
                    return nil
                }
                return Offence(
                    path: file.path,
                    line: index + 1,
                    advice: "\(word) is of a command line: call an operation with plain parameters"
                )
            }
        }
    }
}
