/// The calls of programs in a block of shell commands.
///
/// It knows what the documents use: comments, quotation marks, lines that go on behind a backslash, lists,
/// pipes, substitutions of commands, and variables in front of a command.
struct ShellCall: Equatable {
    let program: String
    let arguments: [String]

    static func all(in text: String) -> [ShellCall] {
        var calls: [ShellCall] = []
        for words in self.commands(in: text.replacing("\\\n", with: " ")) {
            var words = words[...]
            words = words.drop { $0.contains("=") && !$0.hasPrefix("-") || $0 == "export" }
            if words.first == "sudo" || words.first == "runuser" {
                words = words.dropFirst()
                while let option = words.first, option.hasPrefix("-") {
                    words = words.dropFirst(option == "-u" ? 2 : 1)
                }
            }
            guard let program = words.first else { continue }
            calls.append(ShellCall(program: program, arguments: self.withoutRedirections(words.dropFirst())))
        }
        return calls
    }

    private static func withoutRedirections(_ words: ArraySlice<String>) -> [String] {
        var kept: [String] = []
        var rest = words
        while let word = rest.popFirst() {
            guard word.prefixMatch(of: /\d?[<>]/) != nil else {
                kept.append(word)
                continue
            }
            if word.wholeMatch(of: /\d?[<>]+/) != nil { _ = rest.popFirst() }
        }
        return kept
    }

    /// The words of each command; what stands in a substitution is a command of its own.
    private static func commands(in text: String) -> [[String]] {
        var commands: [[String]] = []
        var open: [[String]] = [[]]
        var word: String?
        var quote: Character?
        var isComment = false
        func endWord() {
            if let ended = word { open[open.count - 1].append(ended) }
            word = nil
        }
        func endCommand() {
            endWord()
            commands.append(open[open.count - 1])
            open[open.count - 1] = []
        }
        for character in text {
            if isComment, character != "\n" { continue }
            isComment = false
            if let mark = quote {
                if character == mark { quote = nil } else { word = (word ?? "") + String(character) }
                continue
            }
            switch character {
            case "'", "\"":
                quote = character
                word = word ?? ""
            case "#" where word == nil: isComment = true
            case " ": endWord()
            case "\n", ";", "|", "&": endCommand()
            case "(":
                word = nil
                open.append([])
            case ")":
                endCommand()
                if open.count > 1 { open.removeLast() }
            default: word = (word ?? "") + String(character)
            }
        }
        endCommand()
        return commands.filter { !$0.isEmpty }
    }
}
