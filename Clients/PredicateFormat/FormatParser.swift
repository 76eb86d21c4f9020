import RecordModel

/// Parses a format into a tree, by precedence climbing.
///
/// One grammar covers predicates and expressions, because a parenthesis may open either:
///
///     node       := prefix { infix node }
///     prefix     := NOT node | ("ANY" | "SOME" | "ALL" | "NONE") node relation node
///                 | "-" node | primary
///     infix      := OR | AND | relation [modifiers]
///                 | "+" | "-" | "*" | "/" | "**"        from loose to tight
///
/// Calls nest only where the format does, at most `PredicateSyntax.nestingMax` levels.
struct FormatParser {
    private var scanner: FormatScanner
    private(set) var token: FormatToken = .end
    var arguments: FormatArguments
    private var nesting = 0
    private var leaves = 0
    /// Dots, indexes and operators between expressions.
    ///
    /// The tree of a chain is as deep as the chain is long.
    private var chainLength = 0
    private static let chainLengthMax = 128

    init(_ format: String, arguments: [ExpressionSyntax]) throws(FormatProblem) {
        self.scanner = try FormatScanner(format)
        self.arguments = FormatArguments(arguments)
        try self.advance()
    }

    mutating func wholePredicate() throws(FormatProblem) -> PredicateSyntax {
        let predicate = try self.predicate(.loosest)
        guard self.token == .end else { throw self.unexpected() }
        return predicate
    }

    /// A parsed node.
    ///
    /// Its kind is known only at its end.
    enum Node {
        case predicate(PredicateSyntax)
        case expression(ExpressionSyntax)
    }

    /// How tightly an operator binds its sides.
    enum Precedence: Int, Comparable {
        case or = 1
        case and, not, relation, sum, product, power, sign

        static let loosest = Precedence.or

        static func < (one: Precedence, other: Precedence) -> Bool { one.rawValue < other.rawValue }

        var next: Precedence { Precedence(rawValue: self.rawValue + 1) ?? .sign }
    }

    /// Parses a node with operators that bind at least as tightly as `loosest`.
    mutating func node(_ loosest: Precedence) throws(FormatProblem) -> Node {
        var left = try self.prefix()
        while let (infix, precedence) = FormatInfix.of(self.token), precedence >= loosest {
            switch infix {
            case .or, .and:
                try self.advance()
                let one = try self.predicate(of: left)
                let other = try self.predicate(precedence.next)
                left = .predicate(infix == .or ? one.or(other) : one.and(other))
            case .relation(let relation):
                let expression = try self.expression(of: left)
                left = .predicate(try self.comparison(.direct, expression, relation))
            case .arithmetic(let function):
                try self.advance()
                let one = try self.expression(of: left)
                let other = try self.expression(precedence.next)
                left = .expression(try self.chained(function, [one, other]))
            }
        }
        return left
    }

    private mutating func prefix() throws(FormatProblem) -> Node {
        if self.token == .symbol(.not) || self.isAtKeyword(.not) {
            try self.advance()
            let predicate = try self.nested { parser throws(FormatProblem) in
                try parser.predicate(.not)
            }
            return .predicate(.not(predicate))
        }
        if case .word(let word) = self.token, let modifier = FormatKeyword(word)?.modifier {
            try self.advance()
            let left = try self.nested { parser throws(FormatProblem) in
                try parser.expression(.sum)
            }
            guard let (infix, _) = FormatInfix.of(self.token), case .relation(let relation) = infix else {
                throw self.unexpected()
            }
            return .predicate(try self.comparison(modifier, left, relation))
        }
        if self.token == .symbol(.minus) {
            try self.advance()
            return .expression(try self.negated())
        }
        return try self.primary()
    }

    private mutating func comparison(
        _ modifier: ComparisonSyntax.Modifier,
        _ left: ExpressionSyntax,
        _ relation: ComparisonSyntax.Relation
    ) throws(FormatProblem) -> PredicateSyntax {
        try self.countLeaf()
        let options = try self.scanner.options() ?? ""
        try self.advance()
        let right = try self.expression(.sum)
        return .comparison(
            ComparisonSyntax(left, relation, right, modifier: modifier, options: options)
        )
    }

    private mutating func negated() throws(FormatProblem) -> ExpressionSyntax {
        if case .integer(let magnitude) = self.token {
            let isMinimum = magnitude == Int64.min.magnitude
            guard let integer = isMinimum ? Int64.min : Int64(exactly: magnitude).map({ -$0 }) else {
                throw self.problem("a number that is out of range")
            }
            try self.advance()
            return .value(.int64(integer))
        }
        if case .double(let magnitude) = self.token {
            try self.advance()
            return .value(.double(-magnitude))
        }
        let operand = try self.nested { parser throws(FormatProblem) in
            try parser.expression(.sign)
        }
        return .function("negate:", [operand])
    }
}

extension FormatParser {
    mutating func advance() throws(FormatProblem) {
        self.token = try self.scanner.next()
    }

    /// Takes the token if it is this symbol.
    mutating func take(_ symbol: FormatSymbol) throws(FormatProblem) -> Bool {
        guard self.token == .symbol(symbol) else { return false }
        try self.advance()
        return true
    }

    mutating func expect(_ symbol: FormatSymbol) throws(FormatProblem) {
        guard try self.take(symbol) else {
            throw self.problem("expected '\(symbol.rawValue)' and not \(self.token.shown)")
        }
    }

    func isAtKeyword(_ keyword: FormatKeyword) -> Bool {
        guard case .word(let word) = self.token else { return false }
        return FormatKeyword(word) == keyword
    }

    func problem(_ text: String) -> FormatProblem { self.scanner.problem(text) }

    func unexpected() -> FormatProblem {
        self.problem(self.token == .end ? "unexpected end" : "unexpected \(self.token.shown)")
    }

    /// Parses something one level deeper.
    mutating func nested<Read>(
        _ read: (inout FormatParser) throws(FormatProblem) -> Read
    ) throws(FormatProblem) -> Read {
        guard self.nesting < PredicateSyntax.nestingMax else {
            throw self.problem("more than \(PredicateSyntax.nestingMax) levels")
        }
        self.nesting += 1
        let result = try read(&self)
        self.nesting -= 1
        return result
    }

    /// Makes a call that may be an argument of the next one.
    mutating func chained(
        _ function: String,
        _ arguments: [ExpressionSyntax]
    ) throws(FormatProblem) -> ExpressionSyntax {
        try self.countChained()
        return .function(function, arguments)
    }

    mutating func countChained() throws(FormatProblem) {
        self.chainLength += 1
        guard self.chainLength <= Self.chainLengthMax else {
            throw self.problem("more than \(Self.chainLengthMax) dots, indexes and calculations")
        }
    }

    mutating func countLeaf() throws(FormatProblem) {
        self.leaves += 1
        guard self.leaves <= Bounds.comparisonsMax else {
            throw self.problem("more than \(Bounds.comparisonsMax) comparisons")
        }
    }

    mutating func predicate(_ loosest: Precedence) throws(FormatProblem) -> PredicateSyntax {
        let node = try self.node(loosest)
        return try self.predicate(of: node)
    }

    mutating func expression(_ loosest: Precedence) throws(FormatProblem) -> ExpressionSyntax {
        let node = try self.node(loosest)
        return try self.expression(of: node)
    }

    private func predicate(of node: Node) throws(FormatProblem) -> PredicateSyntax {
        guard case .predicate(let predicate) = node else {
            throw self.problem("expected an operator and not \(self.token.shown)")
        }
        return predicate
    }

    private func expression(of node: Node) throws(FormatProblem) -> ExpressionSyntax {
        guard case .expression(let expression) = node else {
            throw self.problem("expected a value and not a predicate before \(self.token.shown)")
        }
        return expression
    }
}

extension PredicateSyntax {
    /// The conjunction of both.
    ///
    /// A chain becomes one list.
    fileprivate func and(_ other: PredicateSyntax) -> PredicateSyntax {
        if case .and(let parts) = self { .and(parts + [other]) } else { .and([self, other]) }
    }

    /// The disjunction of both.
    ///
    /// A chain becomes one list.
    fileprivate func or(_ other: PredicateSyntax) -> PredicateSyntax {
        if case .or(let parts) = self { .or(parts + [other]) } else { .or([self, other]) }
    }
}
