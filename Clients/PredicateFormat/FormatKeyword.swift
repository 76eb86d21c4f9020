/// The keywords of the language.
///
/// Raw values are in upper case; formats may use any case.
///
/// Words that are keywords only in brackets or before a parenthesis (`FIRST`, `CAST`) are not
/// included.
enum FormatKeyword: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case between = "BETWEEN"
    case `in` = "IN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"
    case tokenMatches = "TOKENMATCHES"
    case object = "SELF"
    case null = "NULL"
    case nothing = "NIL"
    case `true` = "TRUE"
    case yes = "YES"
    case `false` = "FALSE"
    case no = "NO"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"

    init?(_ word: String) {
        guard let keyword = Self(rawValue: word.uppercased()) else { return nil }
        self = keyword
    }

    var modifier: ComparisonSyntax.Modifier? {
        switch self {
        case .any, .some: .any
        case .all: .all
        case .none: ComparisonSyntax.Modifier.none
        default: nil
        }
    }

    var relation: ComparisonSyntax.Relation? { ComparisonSyntax.Relation(rawValue: self.rawValue) }
}

/// An operator between two nodes.
enum FormatInfix: Equatable {
    case or
    case and
    case relation(ComparisonSyntax.Relation)
    /// The name of Foundation's function.
    case arithmetic(String)

    static func of(_ token: FormatToken) -> (FormatInfix, FormatParser.Precedence)? {
        switch token {
        case .word(let word): FormatKeyword(word).flatMap { self.of($0) }
        case .symbol(let symbol): self.of(symbol)
        default: nil
        }
    }

    private static func of(_ keyword: FormatKeyword) -> (FormatInfix, FormatParser.Precedence)? {
        switch keyword {
        case .or: (.or, .or)
        case .and: (.and, .and)
        default: keyword.relation.map { (.relation($0), .relation) }
        }
    }

    private static func of(_ symbol: FormatSymbol) -> (FormatInfix, FormatParser.Precedence)? {
        switch symbol {
        case .or: (.or, .or)
        case .and: (.and, .and)
        case .plus: (.arithmetic("add:to:"), .sum)
        case .minus: (.arithmetic("from:subtract:"), .sum)
        case .times: (.arithmetic("multiply:by:"), .product)
        case .divided: (.arithmetic("divide:by:"), .product)
        case .power: (.arithmetic("raise:toPower:"), .power)
        default: ComparisonSyntax.Relation(rawValue: symbol.rawValue).map { (.relation($0), .relation) }
        }
    }
}
