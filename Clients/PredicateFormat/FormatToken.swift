/// A token of a format.
enum FormatToken: Hashable {
    /// A keyword, or a component of a key path.
    case word(String)
    /// `#word`: a word that is never a keyword.
    case escapedWord(String)
    /// `@count` and similar words.
    case aggregate(String)
    /// The name of a function, with colons.
    case selector(String)
    case string(String)
    /// Without a sign, which is a token of its own.
    case integer(UInt64)
    case double(Double)
    case conversion(FormatConversion)
    case variable(String)
    case symbol(FormatSymbol)
    case end

    /// The token in an error text.
    var shown: String {
        switch self {
        case .word(let word): "'\(word.cut())'"
        case .escapedWord(let word): "'#\(word.cut())'"
        case .aggregate(let word): "'@\(word.cut())'"
        case .selector(let name): "'\(name.cut())'"
        case .string: "a string"
        case .integer, .double: "a number"
        case .conversion(let conversion): "'%\(conversion.rawValue)'"
        case .variable(let name): "'$\(name.cut())'"
        case .symbol(let symbol): "'\(symbol.rawValue)'"
        case .end: "the end"
        }
    }
}

/// A conversion, which an argument replaces.
///
/// Raw values are the spellings after `%`.
enum FormatConversion: String, CaseIterable {
    case object = "@"
    case key = "K"
    case d, i, u, ld, li, lu, lld, lli, llu, zd, zu, qd, qu, hd, hu, hhd, hhu, x, lx, llx
    case f, g, e, lf

    var isFloatingPoint: Bool {
        switch self {
        case .f, .g, .e, .lf: true
        default: false
        }
    }
}

/// Raw values are spellings.
///
/// The other spellings of a symbol are keys of `spellings`.
enum FormatSymbol: String, CaseIterable {
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBrace = "{"
    case rightBrace = "}"
    case leftBracket = "["
    case rightBracket = "]"
    case comma = ","
    case dot = "."
    case and = "&&"
    case or = "||"
    case not = "!"
    case equals = "=="
    case notEquals = "!="
    case lessThan = "<"
    case lessThanOrEquals = "<="
    case greaterThan = ">"
    case greaterThanOrEquals = ">="
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"
    case power = "**"

    /// The longest symbol that these bytes start with, and its length.
    static func first(_ first: UInt8, _ second: UInt8?) -> (FormatSymbol, length: Int)? {
        if let second {
            let two = String(decoding: [first, second], as: UTF8.self)
            if let symbol = self.otherSpellings[two] ?? FormatSymbol(rawValue: two) { return (symbol, 2) }
        }
        let one = String(decoding: CollectionOfOne(first), as: UTF8.self)
        return (self.otherSpellings[one] ?? FormatSymbol(rawValue: one)).map { ($0, 1) }
    }

    private static let otherSpellings: [String: FormatSymbol] = [
        "=": .equals, "<>": .notEquals, "=<": .lessThanOrEquals, "=>": .greaterThanOrEquals,
    ]
}
