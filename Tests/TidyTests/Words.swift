/// Looks for words in lines.
enum Words {
    private static func isPart(_ character: Character?) -> Bool {
        guard let character else { return false }
        return character.isLetter || character.isNumber || character == "_"
    }

    /// Whether a line has this word, not as a part of a longer one.
    static func contains(_ line: Substring, _ word: String) -> Bool {
        var rest = line
        var before: Character?
        while let range = rest.firstRange(of: word) {
            let previous =
                range.lowerBound == rest.startIndex ? before : rest[rest.index(before: range.lowerBound)]
            let next = range.upperBound < rest.endIndex ? rest[range.upperBound] : nil
            if !self.isPart(previous), !self.isPart(next) { return true }
            before = rest[rest.index(before: range.upperBound)]
            rest = rest[range.upperBound...]
        }
        return false
    }

    /// The identifiers and keywords of a line of code, in order.
    static func identifiers(in line: Substring) -> [Substring] {
        line.utf8.split { byte in
            let isLetter = (97...122).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte >= 0x80
            return !isLetter && !(48...57).contains(byte)
        }.map { Substring($0) }
    }

    /// An identifier of the standard library's unchecked memory: `withUnsafeBytes`, `UnsafeRawPointer`
    /// and their like.
    static func unsafeIdentifier(in line: Substring) -> String? {
        self.identifiers(in: line).first { $0.hasPrefix("withUnsafe") || $0.hasPrefix("Unsafe") }.map(
            String.init
        )
    }

    /// Whether a SAFETY sentence is in the comments above a line, with no empty line between.
    static func hasSafetyComment(in file: SourceFile, above index: Int) -> Bool {
        for line in file.lines[...index].reversed() {
            let text = line.drop { $0 == " " }
            if text.isEmpty { return false }
            if text.hasPrefix("//"), text.contains("SAFETY: ") { return true }
        }
        return false
    }
}
