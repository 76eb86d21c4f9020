/// Splits a format into tokens.
struct FormatScanner {
    private let bytes: [UInt8]
    private var position = 0
    /// Offset of the token that was returned last.
    private(set) var tokenStart = 0

    init(_ format: String) throws(FormatProblem) {
        guard format.utf8.count <= PredicateSyntax.formatBytesMax else {
            throw FormatProblem(text: "more than \(PredicateSyntax.formatBytesMax) bytes", offset: 0)
        }
        self.bytes = Array(format.utf8)
    }

    /// Returns the next token, or `end` at the end and on every later call.
    mutating func next() throws(FormatProblem) -> FormatToken {
        self.skipSpace()
        self.tokenStart = self.position
        guard let first = self.peek() else { return .end }
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try self.string(quotedBy: first))
        case UInt8(ascii: "%"): return .conversion(try self.conversion())
        case UInt8(ascii: "#"): return .escapedWord(try self.prefixedWord())
        case UInt8(ascii: "$"): return .variable(try self.prefixedWord())
        case UInt8(ascii: "@"): return .aggregate(try self.prefixedWord())
        case _ where Self.isDigit(first): return try self.number()
        case UInt8(ascii: ".") where self.peek(1).map(Self.isDigit) == true: return try self.number()
        case _ where Self.startsWord(first): return self.word()
        default:
            guard let (symbol, length) = FormatSymbol.first(first, self.peek(1)) else {
                throw self.problem("unexpected '\(String(decoding: [first], as: UTF8.self))'")
            }
            self.position += length
            return .symbol(symbol)
        }
    }

    /// Reads the letters between `[` and `]` after an operator.
    ///
    /// Returns `nil` if there are none.
    mutating func options() throws(FormatProblem) -> String? {
        self.skipSpace()
        guard self.peek() == UInt8(ascii: "[") else { return nil }
        self.tokenStart = self.position
        let letters = self.bytes[(self.position + 1)...].prefix { $0 != UInt8(ascii: "]") }
        let isKnown = letters.count <= 5 && letters.allSatisfy { "cdlnwCDLNW".utf8.contains($0) }
        guard isKnown, letters.endIndex < self.bytes.endIndex, !letters.isEmpty else {
            throw self.problem("unknown modifiers of an operator")
        }
        self.position = letters.endIndex + 1
        return String(decoding: letters, as: UTF8.self).lowercased()
    }

    func problem(_ text: String) -> FormatProblem { FormatProblem(text: text, offset: self.tokenStart) }

    private mutating func word() -> FormatToken {
        var name = self.wordBytes()
        guard self.peek() == UInt8(ascii: ":") else { return .word(name) }
        while self.peek() == UInt8(ascii: ":") {
            self.position += 1
            name += ":"
            if let next = self.peek(), Self.startsWord(next) { name += self.wordBytes() }
        }
        return .selector(name)
    }

    private mutating func prefixedWord() throws(FormatProblem) -> String {
        self.position += 1
        guard let first = self.peek(), Self.startsWord(first) else { throw self.problem("a name is missing") }
        return self.wordBytes()
    }

    private mutating func wordBytes() -> String {
        let word = self.bytes[self.position...].prefix { Self.startsWord($0) || Self.isDigit($0) }
        self.position = word.endIndex
        return String(decoding: word, as: UTF8.self)
    }

    private mutating func conversion() throws(FormatProblem) -> FormatConversion {
        self.position += 1
        if let first = self.peek(), let conversion = FormatConversion(rawValue: Self.text([first])),
            conversion == .object || conversion == .key
        {
            self.position += 1
            return conversion
        }
        let letters = self.bytes[self.position...].prefix { Self.startsWord($0) }
        guard let conversion = FormatConversion(rawValue: Self.text(letters)) else {
            throw self.problem("'%\(Self.text(letters.prefix(8)))' stands for nothing in a predicate")
        }
        self.position = letters.endIndex
        return conversion
    }

    private mutating func string(quotedBy quote: UInt8) throws(FormatProblem) -> String {
        self.position += 1
        var text: [UInt8] = []
        while let byte = self.peek() {
            self.position += 1
            switch byte {
            case quote: return Self.text(text)
            case UInt8(ascii: "\\"): try self.escape(into: &text)
            default: text.append(byte)
            }
        }
        throw self.problem("a string without its end")
    }

    private mutating func escape(into text: inout [UInt8]) throws(FormatProblem) {
        guard let byte = self.peek() else { throw self.problem("a string without its end") }
        self.position += 1
        switch byte {
        case UInt8(ascii: "a"): text.append(0x07)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "v"): text.append(0x0B)
        case UInt8(ascii: "u"): text += try self.scalar(digits: 4)
        case UInt8(ascii: "U"): text += try self.scalar(digits: 8)
        default: text.append(byte)
        }
    }

    private mutating func scalar(digits: Int) throws(FormatProblem) -> [UInt8] {
        let letters = self.bytes[self.position...].prefix(digits)
        guard letters.count == digits, letters.allSatisfy({ $0 != UInt8(ascii: "+") }),
            let number = UInt32(Self.text(letters), radix: 16),
            let scalar = Unicode.Scalar(number)
        else {
            throw self.problem("a malformed character in a string")
        }
        self.position += digits
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func number() throws(FormatProblem) -> FormatToken {
        if self.peek() == UInt8(ascii: "0"), let letter = self.peek(1), let radix = Self.radix(of: letter) {
            self.position += 2
            let digits = self.bytes[self.position...].prefix { Self.startsWord($0) || Self.isDigit($0) }
            guard let number = UInt64(Self.text(digits), radix: radix) else {
                throw self.problem("a malformed number")
            }
            self.position = digits.endIndex
            return .integer(number)
        }
        var digits = self.digits()
        var isInteger = true
        if self.peek() == UInt8(ascii: "."), self.peek(1).map(Self.isDigit) == true {
            isInteger = false
            self.position += 1
            digits += "." + self.digits()
        }
        if let letter = self.peek(), letter | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            self.position += 1
            digits += "e"
            if let sign = self.peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                self.position += 1
                digits += Self.text([sign])
            }
            digits += self.digits()
        }
        if let next = self.peek(), Self.startsWord(next) { throw self.problem("a malformed number") }
        if isInteger, let number = UInt64(digits) { return .integer(number) }
        let text = digits.first == "." ? "0" + digits : digits
        guard !isInteger, let number = Double(text), number.isFinite else {
            throw self.problem("a number that is malformed or out of range")
        }
        return .double(number)
    }

    private mutating func digits() -> String {
        let digits = self.bytes[self.position...].prefix(while: Self.isDigit)
        self.position = digits.endIndex
        return Self.text(digits)
    }

    private mutating func skipSpace() {
        while let byte = self.peek(), byte <= 0x20 { self.position += 1 }
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        let index = self.position + distance
        return index < self.bytes.count ? self.bytes[index] : nil
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Letters, `_` and all characters that are not ASCII.
    private static func startsWord(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80
            || byte == UInt8(ascii: "_")
            || byte >= 0x80
    }

    private static func radix(of letter: UInt8) -> Int? {
        switch letter {
        case UInt8(ascii: "x"), UInt8(ascii: "X"): 16
        case UInt8(ascii: "o"), UInt8(ascii: "O"): 8
        case UInt8(ascii: "b"), UInt8(ascii: "B"): 2
        default: nil
        }
    }
}
