/// Finds the functions of a file and how many lines they have.
enum FunctionLengths {
    struct Function: Hashable {
        /// The line of `func`, from 1.
        let line: Int
        /// From that line to the one with the closing brace.
        let lineCount: Int
    }

    private static let keywords = ["func", "init", "deinit", "subscript"]
    /// What can only follow a declaration that has no body, as in a protocol.
    private static let declarations = [
        "func", "init", "subscript", "var", "let", "case", "associatedtype", "static",
    ]

    static func functions(in file: SourceFile) -> [Function] {
        let code = Array(file.codeLines.joined(separator: "\n").utf8)
        var functions: [Function] = []
        var line = 1
        var index = 0
        while index < code.count {
            if code[index] == UInt8(ascii: "\n") { line += 1 }
            if let word = self.word(in: code, at: index), self.keywords.contains(word) {
                let isCall = index > 0 && code[index - 1] == UInt8(ascii: ".")
                if !isCall, let count = self.bodyLineCount(in: code, from: index + word.utf8.count) {
                    functions.append(Function(line: line, lineCount: count))
                }
                index += word.utf8.count
            } else {
                index += 1
            }
        }
        return functions
    }

    /// Lines from here to the end of the body; `nil` when there is none.
    private static func bodyLineCount(in code: [UInt8], from start: Int) -> Int? {
        var lines = 1
        var parentheses = 0
        var braces = 0
        var index = start
        while index < code.count {
            switch code[index] {
            case UInt8(ascii: "\n"):
                lines += 1
            case UInt8(ascii: "("), UInt8(ascii: "["):
                parentheses += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"):
                parentheses -= 1
            case UInt8(ascii: "{") where braces > 0 || parentheses == 0:
                braces += 1
            case UInt8(ascii: "}") where braces > 0 || parentheses == 0:
                braces -= 1
                if braces == 0 { return lines }
                if braces < 0 { return nil }
            default:
                if braces == 0, parentheses == 0, let word = self.word(in: code, at: index),
                    self.declarations.contains(word)
                {
                    return nil
                }
            }
            index += 1
        }
        return nil
    }

    /// The whole word that starts here, or `nil` in the middle of one.
    private static func word(in code: [UInt8], at index: Int) -> String? {
        func isLetter(_ byte: UInt8) -> Bool {
            (97...122).contains(byte | 0x20) || (48...57).contains(byte) || byte == UInt8(ascii: "_")
        }
        guard isLetter(code[index]), index == 0 || !isLetter(code[index - 1]) else { return nil }
        return String(decoding: code[index...].prefix(while: isLetter), as: UTF8.self)
    }
}
