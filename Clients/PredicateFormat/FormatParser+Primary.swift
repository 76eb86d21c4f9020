import RecordModel

extension FormatParser {
    /// Parses a value, a key path, a call, a list or a parenthesis, with the dots and brackets
    /// after it.
    mutating func primary() throws(FormatProblem) -> Node {
        let first = try self.first()
        guard case .expression(var expression) = first else { return first }
        while true {
            if try self.take(.dot) {
                expression = .keyPath(try self.component(of: expression))
            } else if try self.take(.leftBracket) {
                let index = try self.nested { parser throws(FormatProblem) in
                    try parser.expression(.sum)
                }
                try self.expect(.rightBracket)
                expression = try self.chained("objectFrom:withIndex:", [expression, index])
            } else {
                return .expression(expression)
            }
        }
    }

    private mutating func first() throws(FormatProblem) -> Node {
        let token = self.token
        switch token {
        case .word(let word):
            return try self.word(word)
        case .escapedWord(let word):
            try self.advance()
            return .expression(.keyPath(word))
        case .aggregate(let name):
            try self.advance()
            return .expression(.keyPath("@" + name))
        case .selector(let name):
            try self.advance()
            return .expression(try self.call(name))
        case .string(let text):
            try self.advance()
            return .expression(.value(.string(text)))
        case .integer(let magnitude):
            guard let integer = Int64(exactly: magnitude) else {
                throw self.problem("a number that is out of range")
            }
            try self.advance()
            return .expression(.value(.int64(integer)))
        case .double(let double):
            try self.advance()
            return .expression(.value(.double(double)))
        case .conversion(let conversion):
            return .expression(try self.argument(conversion))
        case .variable(let name):
            try self.advance()
            return .expression(.variable(name))
        case .symbol(.leftParenthesis):
            try self.advance()
            let node = try self.nested { parser throws(FormatProblem) in try parser.node(.loosest) }
            try self.expect(.rightParenthesis)
            return node
        case .symbol(.leftBrace):
            try self.advance()
            return .expression(.list(try self.expressions(until: .rightBrace)))
        case .symbol, .end:
            throw self.unexpected()
        }
    }

    private mutating func word(_ word: String) throws(FormatProblem) -> Node {
        guard let keyword = FormatKeyword(word) else {
            try self.advance()
            let isCall = self.token == .symbol(.leftParenthesis)
            return .expression(isCall ? try self.call(word) : .keyPath(word))
        }
        let node: Node
        switch keyword {
        case .object: node = .expression(.object)
        case .null, .nothing: node = .expression(.constant(.null))
        case .true, .yes: node = .expression(.value(.int64(1)))
        case .false, .no: node = .expression(.value(.int64(0)))
        case .truePredicate, .falsePredicate:
            try self.countLeaf()
            node = .predicate(.value(keyword == .truePredicate))
        case .and, .or, .not, .any, .some, .all, .none, .between, .in, .contains, .beginsWith, .endsWith,
            .like, .matches, .tokenMatches:
            throw self.unexpected()
        }
        try self.advance()
        return node
    }

    private mutating func argument(_ conversion: FormatConversion) throws(FormatProblem) -> ExpressionSyntax {
        switch self.arguments.next(conversion) {
        case .success(let expression):
            try self.advance()
            return expression
        case .failure(let mismatch):
            throw self.problem(mismatch.text)
        }
    }

    /// Parses a component after a dot, and returns the whole key path.
    private mutating func component(of expression: ExpressionSyntax) throws(FormatProblem) -> String {
        let component: String
        switch self.token {
        case .word(let word), .escapedWord(let word):
            component = word
            try self.advance()
        case .aggregate(let name):
            component = "@" + name
            try self.advance()
        case .conversion(.key):
            guard case .keyPath(let key) = try self.argument(.key) else { throw self.unexpected() }
            component = key
        default:
            throw self.unexpected()
        }
        try self.countChained()
        switch expression {
        case .keyPath(let path): return "\(path).\(component)"
        case .object: return "SELF.\(component)"
        case .variable(let name): return "$\(name).\(component)"
        case .constant, .list, .function, .predicate:
            throw self.problem("unexpected '.' behind a value")
        }
    }

    private mutating func call(_ name: String) throws(FormatProblem) -> ExpressionSyntax {
        try self.expect(.leftParenthesis)
        let arguments = try self.expressions(until: .rightParenthesis)
        let colons = name.utf8.count { $0 == UInt8(ascii: ":") }
        guard colons == 0 || colons == arguments.count else {
            throw self.problem("'\(name.cut())' does not take \(arguments.count) arguments")
        }
        return Self.date(name, arguments) ?? .function(name, arguments)
    }

    /// Dates are printed as casts of the seconds since 2001, so such casts are constants.
    private static func date(_ name: String, _ arguments: [ExpressionSyntax]) -> ExpressionSyntax? {
        guard name.uppercased() == "CAST", arguments.count == 2, arguments[1] == .value(.string("NSDate"))
        else {
            return nil
        }
        switch arguments[0] {
        case .constant(.value(.double(let seconds))): return .value(.timestamp(seconds))
        case .constant(.value(.int64(let seconds))): return .value(.timestamp(Double(seconds)))
        default: return nil
        }
    }

    private mutating func expressions(until end: FormatSymbol) throws(FormatProblem) -> [ExpressionSyntax] {
        try self.nested { parser throws(FormatProblem) in
            var expressions: [ExpressionSyntax] = []
            if try parser.take(end) { return expressions }
            repeat {
                guard expressions.count < Bounds.operandElementsMax else {
                    throw parser.problem("more than \(Bounds.operandElementsMax) elements")
                }
                switch try parser.node(.loosest) {
                case .expression(let expression): expressions.append(expression)
                case .predicate(let predicate): expressions.append(.predicate(predicate))
                }
            } while try parser.take(.comma)
            try parser.expect(end)
            return expressions
        }
    }
}
