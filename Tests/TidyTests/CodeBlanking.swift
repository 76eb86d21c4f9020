/// Separates code from comments, so that a word in a comment or a text is not taken for one in the
/// code.
///
/// It knows line comments, nested block comments, texts of one and of several lines, raw texts,
/// interpolation, and names in backticks.
struct CodeBlanking {
    private let bytes: [UInt8]
    private var code: [UInt8]
    private var comments: [UInt8]
    private var index = 0

    /// The text twice, with the same lines and columns: once with nothing but code left, once with
    /// nothing but comments.
    static func separated(_ text: String) -> (code: String, comments: String) {
        var blanking = CodeBlanking(bytes: Array(text.utf8))
        blanking.copyCode(untilParenthesis: false)
        return (
            String(decoding: blanking.code, as: UTF8.self),
            String(decoding: blanking.comments, as: UTF8.self)
        )
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        self.code = []
        self.code.reserveCapacity(bytes.count)
        self.comments = []
        self.comments.reserveCapacity(bytes.count)
    }

    private func starts(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard self.index + length <= self.bytes.count else { return false }
        return "\(text)".utf8.elementsEqual(self.bytes[self.index..<self.index + length])
    }

    private mutating func blank(_ count: Int = 1, isComment: Bool = false) {
        for _ in 0..<count where self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            let blank = byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " ")
            self.code.append(blank)
            self.comments.append(isComment ? byte : blank)
            self.index += 1
        }
    }

    /// Copies code until the end, or until the parenthesis that ends an interpolation, which it leaves.
    private mutating func copyCode(untilParenthesis: Bool) {
        var depth = 0
        while self.index < self.bytes.count {
            if self.starts("//") {
                while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\n") {
                    self.blank(isComment: true)
                }
            } else if self.starts("/*") {
                self.blankBlockComment()
            } else if self.starts("`") {
                self.blank()
                while self.index < self.bytes.count, !self.starts("`") { self.blank() }
                self.blank()
            } else if let hashes = self.hashesBeforeQuote() {
                self.blankText(hashes: hashes)
            } else {
                let byte = self.bytes[self.index]
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") {
                    if depth == 0, untilParenthesis { return }
                    depth -= 1
                }
                self.code.append(byte)
                self.comments.append(byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
                self.index += 1
            }
        }
    }

    private mutating func blankBlockComment() {
        var depth = 0
        repeat {
            if self.starts("/*") {
                depth += 1
                self.blank(2, isComment: true)
            } else if self.starts("*/") {
                depth -= 1
                self.blank(2, isComment: true)
            } else {
                self.blank(isComment: true)
            }
        } while depth > 0 && self.index < self.bytes.count
    }

    /// The number of `#` before a quote, or `nil` if no text starts here.
    private func hashesBeforeQuote() -> Int? {
        var position = self.index
        while position < self.bytes.count, self.bytes[position] == UInt8(ascii: "#") { position += 1 }
        guard position < self.bytes.count, self.bytes[position] == UInt8(ascii: "\"") else { return nil }
        return position - self.index
    }

    private mutating func blankText(hashes: Int) {
        self.blank(hashes)
        let quotes = self.starts("\"\"\"") ? 3 : 1
        self.blank(quotes)
        while self.index < self.bytes.count {
            if self.isMark(UInt8(ascii: "\""), count: quotes, hashes: hashes) {
                self.blank(quotes + hashes)
                return
            }
            if self.bytes[self.index] == UInt8(ascii: "\\"), self.follows(hashes: hashes, at: self.index + 1)
            {
                self.blank(1 + hashes)
                if self.starts("(") {
                    self.blank()
                    self.copyCode(untilParenthesis: true)
                }
                self.blank()
            } else {
                self.blank()
            }
        }
    }

    private func isMark(_ byte: UInt8, count: Int, hashes: Int) -> Bool {
        let end = self.index + count
        guard end <= self.bytes.count, self.bytes[self.index..<end].allSatisfy({ $0 == byte }) else {
            return false
        }
        return self.follows(hashes: hashes, at: end)
    }

    private func follows(hashes: Int, at position: Int) -> Bool {
        let end = position + hashes
        return end <= self.bytes.count
            && self.bytes[position..<end].allSatisfy { $0 == UInt8(ascii: "#") }
    }
}
