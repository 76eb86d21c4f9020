import RecordModel

/// Prints a tree as a format.
struct FormatPrinter {
    /// The form of constants and keys.
    enum Style {
        /// Literals, as in Foundation's `predicateFormat`: for people, and for the parser unless a
        /// value has no literal (a reference, a location, bytes).
        case literals
        /// `%@` and `%K`, with the values beside the format. Nothing is lost.
        case conversions
    }

    private let style: Style
    private(set) var text = ""
    private(set) var arguments: [FieldValue] = []
    /// Whether the style could express everything.
    private(set) var isComplete = true

    init(_ style: Style) {
        self.style = style
    }

    mutating func write(_ predicate: PredicateSyntax) {
        switch predicate {
        case .value(let value): self.text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): self.write(comparison)
        case .and(let parts): self.write(parts, joinedBy: " AND ", ofNone: "TRUEPREDICATE")
        case .or(let parts): self.write(parts, joinedBy: " OR ", ofNone: "FALSEPREDICATE")
        case .not(let part):
            self.text += "NOT "
            self.writeInParentheses(part)
        }
    }

    private mutating func write(_ parts: [PredicateSyntax], joinedBy word: String, ofNone value: String) {
        if parts.isEmpty { self.text += value }
        for (index, part) in parts.enumerated() {
            if index > 0 { self.text += word }
            self.writeInParentheses(part)
        }
    }

    /// Only compound predicates need parentheses.
    private mutating func writeInParentheses(_ predicate: PredicateSyntax) {
        switch predicate {
        case .and, .or:
            self.text += "("
            self.write(predicate)
            self.text += ")"
        case .value, .comparison, .not:
            self.write(predicate)
        }
    }

    mutating func write(_ comparison: ComparisonSyntax) {
        if comparison.modifier != .direct { self.text += comparison.modifier.rawValue + " " }
        self.write(comparison.left)
        self.text += " " + comparison.relation.rawValue
        if !comparison.options.isEmpty { self.text += "[\(comparison.options)]" }
        self.text += " "
        self.write(comparison.right)
    }

    mutating func write(_ expression: ExpressionSyntax) {
        switch expression {
        case .object: self.text += "SELF"
        case .keyPath(let path): self.writeKeyPath(path)
        case .constant(let constant): self.write(constant)
        case .list(let elements): self.write(list: elements)
        case .variable(let name): self.text += "$" + name
        case .predicate(let predicate): self.write(predicate)
        case .function(let name, let arguments):
            if let sign = Self.signs[name], arguments.count == 2 {
                self.writeOperand(arguments[0])
                self.text += " \(sign) "
                self.writeOperand(arguments[1])
            } else {
                self.text += name
                self.write(arguments, between: ("(", ")"))
            }
        }
    }

    private static let signs = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
    ]

    private mutating func writeOperand(_ expression: ExpressionSyntax) {
        guard case .function(let name, _) = expression, Self.signs[name] != nil else {
            return self.write(expression)
        }
        self.text += "("
        self.write(expression)
        self.text += ")"
    }

    private mutating func write(_ expressions: [ExpressionSyntax], between ends: (String, String)) {
        self.text += ends.0
        for (index, expression) in expressions.enumerated() {
            if index > 0 { self.text += ", " }
            self.write(expression)
        }
        self.text += ends.1
    }

    private mutating func write(list elements: [ExpressionSyntax]) {
        if self.style == .conversions, let list = FieldValue(list: elements) {
            self.text += "%@"
            self.arguments.append(list)
        } else {
            self.write(elements, between: ("{", "}"))
        }
    }

    private mutating func writeKeyPath(_ path: String) {
        guard self.style == .literals else {
            self.text += "%K"
            return self.arguments.append(.string(path))
        }
        let components = path.split(separator: ".", omittingEmptySubsequences: false)
        self.text += components.enumerated().map { index, component in
            FormatKeyword(String(component)) == nil || index > 0 || components.count > 1
                ? String(component) : "#\(component)"
        }.joined(separator: ".")
    }

    private mutating func write(_ constant: ConstantSyntax) {
        switch constant {
        case .null: self.text += "nil"
        case .unusable(let why):
            self.isComplete = false
            self.text += "<\(why)>"
        case .value(let value) where self.style == .conversions:
            self.text += "%@"
            self.arguments.append(value)
        case .value(let value):
            self.text += value.literal
        }
    }
}

extension PredicateSyntax {
    /// The predicate in the spelling of Foundation's `predicateFormat`.
    package var printed: String {
        var printer = FormatPrinter(.literals)
        printer.write(self)
        return printer.text
    }
}

extension ComparisonSyntax {
    var printed: String {
        var printer = FormatPrinter(.literals)
        printer.write(self)
        return printer.text
    }
}

extension ExpressionSyntax {
    var printed: String {
        var printer = FormatPrinter(.literals)
        printer.write(self)
        return printer.text
    }
}
